"""Running experiments behind HTTP: `afterglow serve`.

A thin layer around `afterglow.live`. Reads of the live variant are answered from memory; rewards that wait at the same
time are committed together; everything else is called in worker threads. Every refusal is a problem of one table.
"""
