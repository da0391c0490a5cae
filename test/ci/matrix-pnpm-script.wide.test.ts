/** Which test is named when it dies below `agentdump ci`, in a script that pnpm starts. */
import { testRunner } from '../support/runner-matrix.ts';

testRunner('pnpm script');
