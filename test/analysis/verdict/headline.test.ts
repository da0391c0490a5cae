import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleWithPlace } from '../../../src/analysis/verdict/wording.ts';

const place = 'src/main.ts:14:21';

test('a title keeps the provider and the missing argument of a dependency that Nest can not resolve', () => {
  for (const argument of ['CatModel', '"CatModel"'])
    assert.equal(
      titleWithPlace(
        `UnknownDependenciesException: Nest can't resolve dependencies of the CatsService (LogService, ?). Please make sure that the argument ${argument} at index [1] is available in the AppModule context.`,
        'at',
        place,
      ),
      `Nest can't resolve argument 1 (CatModel) of CatsService at ${place}`,
    );
});
