#!/usr/bin/env node
'use strict';
require('../dist/cli/start.cjs').startFromShell(process.argv.slice(2));
