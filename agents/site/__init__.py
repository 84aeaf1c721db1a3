"""The static site: the page of ``nainjaune serve`` in front of a worker that runs the WebAssembly modules, without any server."""
