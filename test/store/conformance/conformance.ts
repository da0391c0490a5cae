/** What every store must do, whichever database runs its SQL and wherever its bundles are. */
import { testIssues } from './issues.ts';
import { testKeeping } from './keeping.ts';
import { testSending } from './sending.ts';
import { testStarts } from './starts.ts';
import { type StoreKind, StoreUnderTest } from './store-under-test.ts';

export function testStore(kind: StoreKind): void {
  const tested = new StoreUnderTest(kind);
  testSending(tested);
  testIssues(tested);
  testKeeping(tested);
  testStarts(tested);
}
