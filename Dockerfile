# The page in a container: docker build -t stdiffeye . && docker run --rm -p 127.0.0.1:8642:8642 stdiffeye
FROM python:3.11-slim

# TORCH_INDEX: address of torch's index of CPU builds; without it pip's own default, which on Linux brings CUDA along.
ARG TORCH_INDEX=""
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONUNBUFFERED=1 MPLCONFIGDIR=/tmp/matplotlib
RUN pip install ${TORCH_INDEX:+--index-url "$TORCH_INDEX"} torch==2.13.0

COPY . /source
RUN pip install "/source[web,text,tables]" && rm -rf /source

RUN useradd --create-home viewer
USER viewer
WORKDIR /home/viewer
EXPOSE 8642
HEALTHCHECK --start-period=60s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8642/api/info', timeout=5)"]
# 0.0.0.0 inside the container: who may reach it is said by -p, above by this machine alone.
CMD ["stdiffeye", "serve", "--host", "0.0.0.0", "--port", "8642"]
