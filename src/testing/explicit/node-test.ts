/**
 * `node --import agentdump/node-test --test`: reports the running test of node:test to the preload. For Node 20 and 22
 * without `agentdump ci`; since Node 24 the preload detects it itself.
 */
import { hearReporter } from '../runners/node-test-reporter.ts';
import { findTests } from './find-tests.ts';

const tests = findTests();
const isFile = process.env['NODE_TEST_CONTEXT']?.startsWith('child') || !process.execArgv.includes('--test');
if (tests && isFile) hearReporter(tests, process.argv[1] ?? '');
