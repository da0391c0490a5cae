/** Which test is named when it dies below `agentdump ci`, in mocha. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('mocha');
