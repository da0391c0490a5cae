/**
 * `node --import agentdump/node-test --test`: tells the preload which test of node:test runs. For Node 20 and 22 without
 * `agentdump ci`; from Node 24 on the preload hears it by itself.
 */
import { hearReporter } from '../runners/node-test-reporter.ts';
import { findTests } from './find-tests.ts';

const tests = findTests();
const isFile = process.env['NODE_TEST_CONTEXT']?.startsWith('child') || !process.execArgv.includes('--test');
if (tests && isFile) hearReporter(tests, process.argv[1] ?? '');
