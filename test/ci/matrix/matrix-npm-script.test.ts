/** Which test is named when it dies below `agentdump ci`, in a script that npm starts. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('npm script', ['crash', 'oom']);
