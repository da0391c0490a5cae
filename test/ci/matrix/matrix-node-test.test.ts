/** Which test is named when it dies below `agentdump ci`, in node:test. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('node:test');
