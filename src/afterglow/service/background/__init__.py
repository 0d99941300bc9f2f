"""Threads and tasks beside the requests: reward writer, ticker, workers, webhook delivery."""
