#!/bin/sh
# A bot in one line: it plays the first legal action. sed -u writes each answer at once.
exec sed -un '/"type": *"quit"/q; s/.*"type": *"hello".*"id": *\([0-9]*\).*/{"type":"ready","protocol":1,"id":\1,"name":"first","deterministic":true}/p; s/.*"type": *"turn".*"id": *\([0-9]*\).*"legal": *\[ *\([0-9]*\).*/{"type":"actions","id":\1,"actions":[\2]}/p'
