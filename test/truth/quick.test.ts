/** The deaths of the table that every run of the tests dies. */
import { testTruth } from './check-truth.ts';
import { truths } from './truths.ts';

for (const truth of truths) if (truth.quick) testTruth(truth);
