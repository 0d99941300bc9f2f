# Needs Python 3.11 or newer, pip and make; everything else is fetched into .venv, pinned and hashed.
PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
PIP_INSTALL := -m pip --quiet --disable-pip-version-check install --no-compile
LOCK := $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header $(UPGRADE)

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test check docs bench install requirements clean

help:
	@echo "make run           compare the policies: a table here, a report in out/"
	@echo "make test          run the tests, the examples in docstrings and every block of the docs"
	@echo "make check         lint, formatting, strict types, import contracts"
	@echo "make docs          build the documentation site in site/, with search; it needs no network"
	@echo "make bench         time the engine beside C and other libraries, the service beside bare ones"
	@echo "make install       install afterglow into $(VENV), editable"
	@echo "make requirements  pin the requirements anew; UPGRADE=--upgrade takes the newest"
	@echo "make clean         remove what the other targets made"

run: $(VENV)/run.stamp
	$(VENV)/bin/afterglow compare --out out

test: $(VENV)/dev.stamp
	$(VENV)/bin/python -m pytest --numprocesses 3 --dist worksteal

check: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: $(VENV)/dev.stamp
	$(VENV)/bin/python docs/build.py site
	@echo "open site/index.html"

bench: $(BENCH_VENV)/bench.stamp
	$(BENCH_VENV)/bin/python bench/run.py

install: $(VENV)/run.stamp

requirements: $(VENV)/dev.stamp
	$(LOCK) pyproject.toml requirements/build.in --extra lab --output-file requirements/run.txt
	$(LOCK) pyproject.toml requirements/build.in --extra dev --constraints requirements/run.txt \
		--output-file requirements/dev.txt
	$(LOCK) pyproject.toml requirements/build.in --extra postgres --constraints requirements/dev.txt \
		--output-file requirements/serve.txt
	$(LOCK) pyproject.toml requirements/build.in requirements/bench.in --extra all --constraints requirements/run.txt \
		--output-file requirements/bench.txt

clean:
	rm -rf $(VENV) $(BENCH_VENV) out site bench/out dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -prune -exec rm -rf {} +

# The pins of dev.txt contain those of run.txt, so either set leaves `make run` working.
$(VENV)/run.stamp: requirements/run.txt pyproject.toml
$(VENV)/dev.stamp: requirements/dev.txt pyproject.toml
$(BENCH_VENV)/bench.stamp: requirements/bench.txt pyproject.toml

%.stamp:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("afterglow needs Python 3.11 or newer, $(PYTHON) is " + sys.version.split()[0] + "; give another: make PYTHON=python3.12")'
	@echo "installing requirements/$(*F).txt and afterglow into $(@D)"
	@$(PYTHON) -m venv $(@D)
	@$(@D)/bin/python $(PIP_INSTALL) --require-hashes --requirement requirements/$(*F).txt
	@$(@D)/bin/python -m compileall -qq -j 0 $(@D)/lib || true # as pip would, on all cores
	@$(@D)/bin/python $(PIP_INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@ $(if $(filter dev,$(*F)),$(@D)/run.stamp)
