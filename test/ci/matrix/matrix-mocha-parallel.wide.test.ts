/** Which test is named when it dies below `agentdump ci`, in mocha with `--parallel`. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('mocha parallel', ['crash', 'oom']);
