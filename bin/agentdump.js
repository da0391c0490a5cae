#!/usr/bin/env node
'use strict';
const words = process.argv.slice(2);
const start = words[0] === 'run' ? 'start-run' : 'start';
require(`../dist/cli/${start}.cjs`).startFromShell(words);
