/** Which test is named when it dies below `agentdump ci`, in a script that pnpm starts. */
import { testRunner } from '../../support/runners/runner-matrix.ts';

testRunner('pnpm script');
