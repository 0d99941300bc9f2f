"""Two ways to look at pages: a reader of HTML, and a headless Chromium."""
