/** Forms that were written before the rules: a minimum share must be found, and the result must not depend on the chunks. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createRedactor, redact } from '../../../src/redaction/index.ts';
import { scoreCorpus } from '../../support/secrets/secret-score.ts';
import * as first from '../../support/unseen/forms/set-01.ts';
import * as second from '../../support/unseen/forms/set-02.ts';
import * as third from '../../support/unseen/forms/set-03.ts';
import * as fourth from '../../support/unseen/forms/set-04.ts';
import * as fifth from '../../support/unseen/forms/set-05.ts';
import * as sixth from '../../support/unseen/forms/set-06.ts';
import * as seventh from '../../support/unseen/forms/set-07.ts';
import * as eighth from '../../support/unseen/forms/set-08.ts';
import * as ninth from '../../support/unseen/forms/set-09.ts';
import * as tenth from '../../support/unseen/forms/set-10.ts';
import * as thirteenth from '../../support/unseen/forms/set-13.ts';
import * as fourteenth from '../../support/unseen/forms/set-14.ts';
import * as fifteenth from '../../support/unseen/forms/set-15.ts';
import * as sixteenth from '../../support/unseen/forms/set-16.ts';
import * as seventeenth from '../../support/unseen/forms/set-17.ts';
import * as eighteenth from '../../support/unseen/forms/set-18.ts';
import * as nineteenth from '../../support/unseen/forms/set-19.ts';
import * as twentieth from '../../support/unseen/forms/set-20.ts';
import * as twentyFirst from '../../support/unseen/forms/set-21.ts';
import * as twentySecond from '../../support/unseen/forms/set-22.ts';
import * as twentyThird from '../../support/unseen/forms/set-23.ts';
import * as twentyFourth from '../../support/unseen/forms/set-24.ts';
import * as besideFourth from '../../support/unseen/look-alikes/set-04.ts';
import * as besideFifth from '../../support/unseen/look-alikes/set-05.ts';
import * as besideSixth from '../../support/unseen/look-alikes/set-06.ts';
import * as besideSeventh from '../../support/unseen/look-alikes/set-07.ts';
import * as besideEighth from '../../support/unseen/look-alikes/set-08.ts';
import * as besideNinth from '../../support/unseen/look-alikes/set-09.ts';
import * as besideTenth from '../../support/unseen/look-alikes/set-10.ts';
import * as besideThirteenth from '../../support/unseen/look-alikes/set-13.ts';
import * as besideFourteenth from '../../support/unseen/look-alikes/set-14.ts';
import * as besideFifteenth from '../../support/unseen/look-alikes/set-15.ts';
import * as besideSeventeenth from '../../support/unseen/look-alikes/set-17.ts';
import * as besideEighteenth from '../../support/unseen/look-alikes/set-18.ts';
import * as besideNineteenth from '../../support/unseen/look-alikes/set-19.ts';
import * as besideTwentieth from '../../support/unseen/look-alikes/set-20.ts';
import * as besideTwentyFirst from '../../support/unseen/look-alikes/set-21.ts';
import * as besideTwentySecond from '../../support/unseen/look-alikes/set-22.ts';
import * as besideTwentyThird from '../../support/unseen/look-alikes/set-23.ts';
import * as besideTwentyFourth from '../../support/unseen/look-alikes/set-24.ts';
import { makeUnseen, makeUnseenLookAlikes } from '../../support/unseen/unseen-forms.ts';

for (const [name, groups, least] of [
  ['the first set', first, 0.85],
  ['the second set', second, 0.83],
  ['the third set', third, 0.96],
  ['the fourth set', fourth, 0.95],
  ['the fifth set', fifth, 0.93],
  ['the sixth set', sixth, 0.9],
  ['the seventh set', seventh, 0.94],
  ['the eighth set', eighth, 0.94],
  ['the ninth set', ninth, 0.92],
  ['the tenth set', tenth, 0.95],
  ['the thirteenth set', thirteenth, 0.95],
  ['the fourteenth set', fourteenth, 0.95],
  ['the fifteenth set', fifteenth, 0.96],
  ['the sixteenth set', sixteenth, 0.92],
  ['the seventeenth set', seventeenth, 0.94],
  ['the eighteenth set', eighteenth, 0.96],
  ['the nineteenth set', nineteenth, 0.94],
  ['the twentieth set', twentieth, 0.9],
  ['the twenty-first set', twentyFirst, 0.98],
  ['the twenty-second set', twentySecond, 0.95],
  ['the twenty-third set', twentyThird, 0.96],
  ['the twenty-fourth set', twentyFourth, 0.98],
] as const)
  test(`${name}: at least ${least * 100} % of the secrets are found`, () => {
    for (const { right, total } of scoreCorpus(makeUnseen({ ...groups }, 41, 2), (text) =>
      redact(text),
    ).values())
      assert.ok(right / total >= least, `${right} of ${total}`);
  });

for (const [name, groups, most] of [
  ['the fourth', besideFourth, 0.015],
  ['the fifth', besideFifth, 0.01],
  ['the sixth', besideSixth, 0.02],
  ['the seventh', besideSeventh, 0.01],
  ['the eighth', besideEighth, 0.02],
  ['the ninth', besideNinth, 0.01],
  ['the tenth', besideTenth, 0.02],
  ['the thirteenth', besideThirteenth, 0.01],
  ['the fourteenth', besideFourteenth, 0.01],
  ['the fifteenth', besideFifteenth, 0.01],
  ['the seventeenth', besideSeventeenth, 0.01],
  ['the eighteenth', besideEighteenth, 0.01],
  ['the nineteenth', besideNineteenth, 0.01],
  ['the twentieth', besideTwentieth, 0.01],
  ['the twenty-first', besideTwentyFirst, 0.01],
  ['the twenty-second', besideTwentySecond, 0.01],
  ['the twenty-third', besideTwentyThird, 0.01],
  ['the twenty-fourth', besideTwentyFourth, 0.01],
] as const)
  test(`beside ${name} set at most ${most * 100} % of what only looks like it is changed`, () => {
    for (const { right, total, wrong } of scoreCorpus(makeUnseenLookAlikes({ ...groups }, 41), (text) =>
      redact(text),
    ).values())
      assert.ok(total - right <= total * most, wrong.map(({ output }) => output).join('\n'));
  });

test('all of them in one stream, in small chunks', () => {
  const text = [first, second, fourth, fifth, sixth, seventh, eighth, ninth, tenth]
    .flatMap((groups) => makeUnseen({ ...groups }, 42, 1))
    .map((item) => item.text)
    .join('\n\n');
  const whole = redact(text);
  for (const size of [3, 61, 997]) {
    const redactor = createRedactor();
    let out = '';
    for (let i = 0; i < text.length; i += size) out += redactor.write(text.slice(i, i + size));
    assert.ok(out + redactor.end() === whole, `chunks of ${size}`);
  }
});

test('what only looks like it stays: columns, calls, near words, ids of unknown issuers', () => {
  const texts = [
    'token,count,model\n12,4,gpt-4o-2024-08-06\n',
    '| password policy | value |\n|---|---|\n| length | 12 |\n',
    'jwt.sign(payload, key, { algorithm: "HS256" })',
    'createHash("sha256").update("hello world")',
    'setToken(response.data.token)',
    'login("bob", password)',
    'connect("db-primary-01", "eu-west-1")',
    'token usage 1234 of 4096 in run_01JABCDEFGHJKMNPQRSTVWXYZ0',
    'x-amz-cf-id: Kq3b8mZr_x2Vd9Tq7Ls1Pw5Yc0Nf4Hj6Gk8Bv3Rz1Mt5Xa7==',
    'dpl_5m8CQaRBm3FnWRW1od3wKTpaECPx',
    '{"next_page_token":"YCwCPSejnHipsgZSAKaAIyCH5Jw29j1PT7T0Afa4"}',
    'gpg --keyserver hkps://keys.openpgp.org --recv-keys 4ED778F539E3634C779C87C6D7062848A1AB005C',
    'Пароль должен содержать не менее 8 символов',
  ];
  assert.deepEqual(
    texts.filter((text) => redact(text) !== text),
    [],
  );
});
