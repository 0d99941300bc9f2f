"""Running experiments behind HTTP: `afterglow serve`.

A thin layer around `afterglow.live`. Requests for the current variant are answered from memory; rewards received at the
same time are committed together; everything else runs in worker threads. All errors are in one table of problems.
"""
