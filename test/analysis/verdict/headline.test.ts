import assert from 'node:assert/strict';
import { test } from 'node:test';
import { titleFor, titleWithPlace } from '../../../src/analysis/verdict/wording.ts';

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

test('a title that is too long keeps whom it concerns and where it was', () => {
  const what = 'Error [ERR_HTTP_HEADERS_SENT]: Cannot set headers after they are sent to the client';
  for (const word of ['at', 'likely at', 'in', 'from'] as const) {
    const title = titleFor('GET /orders/17', titleWithPlace(what, word, place));
    assert.ok(title.startsWith('GET /orders/17: Error [ERR_HTTP_HEADERS_SENT]: Cannot'), title);
    assert.ok(title.endsWith(` ${word} ${place}`), title);
    assert.ok(title.length <= 100, title);
  }
  assert.equal(titleFor('GET /', 'The event loop hangs'), 'GET /: The event loop hangs');
});
