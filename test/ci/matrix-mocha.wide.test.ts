/** Which test is named when it dies below `agentdump ci`, in mocha. */
import { testRunner } from '../support/runner-matrix.ts';

testRunner('mocha');
