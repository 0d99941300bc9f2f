"""Run the fenced blocks of documents."""
