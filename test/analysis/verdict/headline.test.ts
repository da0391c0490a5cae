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
    assert.ok(title.startsWith('GET /orders/17: Error: Cannot set headers after they are sent'), title);
    assert.ok(title.endsWith(` ${word} ${place}`), title);
    assert.ok(title.length <= 100, title);
  }
  assert.equal(titleFor('GET /', 'The event loop hangs'), 'GET /: The event loop hangs');
});

test('a title in a package names it on any system', () => {
  for (const file of ['node_modules/@x/p/a.js:3:1', 'node_modules\\@x\\p\\a.js:3:1'])
    assert.ok(titleWithPlace(`Error: ${'x '.repeat(90)}`, 'at', file).endsWith(' in @x/p'));
});

test('a long message takes no longer than its beginning', () => {
  const { user } = process.cpuUsage();
  for (const text of ['Error'.repeat(100_000), 'Error: '.repeat(100_000)])
    assert.ok(titleWithPlace(text, 'at', place).endsWith(place));
  assert.ok(process.cpuUsage().user - user < 1_000_000);
});

test('the code of an error makes room for its message, if there is not enough for both', () => {
  const what =
    'CsvError [CSV_RECORD_INCONSISTENT_COLUMNS]: Invalid Record Length: columns length is 2, got 3';
  assert.equal(titleWithPlace(what, 'at', undefined), what);
  const short = 'CsvError: Invalid Record Length: columns length is 2, got 3';
  assert.equal(titleWithPlace(what, 'at', place), `${short} at ${place}`);
  assert.equal(titleFor('job 7', titleWithPlace(what, 'at', place)), `job 7: ${short} at ${place}`);
  const inMessage = `Error: expected [A_B]: ${'x'.repeat(90)}`;
  assert.ok(titleWithPlace(inMessage, 'at', place).startsWith('Error: expected [A_B]: x'));
});

test('folders of the place are cut before the message, where that is enough', () => {
  const what = "TypeError: Cannot read properties of undefined (reading 'total')";
  const far = `/home/me/projects/trips/fixtures/example/trip-agent.ts:36:55`;
  assert.equal(titleWithPlace(what, 'at', far), `${what} at …/example/trip-agent.ts:36:55`);
  assert.equal(
    titleFor('GET /o/17', titleWithPlace(what, 'at', far)),
    `GET /o/17: ${what} at …/trip-agent.ts:36:55`,
  );
  const long = titleWithPlace(`Error: ${'word '.repeat(30)}`, 'at', far);
  assert.ok(long.endsWith('word… at …/fixtures/example/trip-agent.ts:36:55'), long);
});
