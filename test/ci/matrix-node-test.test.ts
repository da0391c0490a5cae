/** Which test is named when it dies below `agentdump ci`, in node:test. */
import { testRunner } from '../support/runner-matrix.ts';

testRunner('node:test');
