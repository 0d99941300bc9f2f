"""Users' code in studies: files of policies, source text stored with results, digests that tell changed code."""
