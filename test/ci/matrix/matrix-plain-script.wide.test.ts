/** Which test is named when it dies below `agentdump ci`, in a plain script. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('plain script');
