/** Secrets that the next line of a conversation answers with, and the answers that contain none. */
import { test } from 'node:test';
import { keeps, withholds } from '../../support/secrets/marked-texts.ts';

test('a code for a door, asked for in the line before', () =>
  withholds([
    '— What’s the code for the back door?\n— ‹9137›',
    'Alice: door code?\nBob: ‹9137›',
    "Q: what's the door code for the garage?\nA: it's ‹5582›",
    '[10:21] tom: code for the gate?\n[10:22] eva: ‹77 31›',
    '> What is the alarm code again?\n> ‹660914›',
  ]));

test('a password, asked for in the line before', () =>
  withholds([
    'Anna: gibst du mir das Passwort für die Staging-DB?\nBen: klar: ‹Hummel!Flug77›',
    'Lena: was war nochmal das WLAN-Passwort?\nTim: das ist ‹Erdbeer&Feld4›',
    'Mia: what was the password for the printer?\nJo: ‹Toner_leer77›',
    "Luc: c'est quoi le mot de passe du nas ?\nAna: ‹Fromage-bleu12›",
  ]));

test('other answers stay', () =>
  keeps([
    'What is the exit code?\n137',
    'Which error code?\nBob: 4041',
    'Did the code run?\n2024 lines of output',
    'Who changed the password?\nBob: admin2 did, in build 4711',
    'Forgot the password?\nhttps://example.com/reset/2024/11',
    'Which password field?\n  input.value = form2.password;',
    'Is the password hashed?\nyes, sha256',
  ]));

test('words that are joined with one of another language', () => {
  withholds([
    'la password del router è ‹zuccheroNero8›',
    'la password della stampante è ‹Gatto+Nero7›',
    'lösenordet till skrivaren är ‹Björn-Bär!3›',
  ]);
  keeps(['the password of the router is routerName2', 'la password del router è obbligatoria']);
});
