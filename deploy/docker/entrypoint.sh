#!/bin/sh
# The image's entry point: a tool's name as the first word runs that tool (tritonserver …, pagoda chat …), anything
# else are the flags of the server, as vllm/vllm-openai takes them: --model /models/x --max-model-len 8192.
case "${1:-}" in
  vllm | tritonserver | dcgm-exporter | dcgmi | pagoda | sh | bash)
    exec "$@"
    ;;
  serve | chat | plan | quantize | smi | exporter | driver | ctk | device-plugin | doctor | console)
    exec /usr/local/bin/pagoda "$@"
    ;;
  *)
    exec /usr/local/bin/pagoda serve "$@"
    ;;
esac
