/** Which test is named when it dies below `agentdump ci`, in npm script. */
import { testRunner } from '../support/runner-matrix.ts';

testRunner('npm script', ['crash', 'oom']);
