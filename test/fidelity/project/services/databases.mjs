import { PGlite } from '@electric-sql/pglite';
import { Level } from 'level';
import { JSONFilePreset } from 'lowdb/node';
import initSqlJs from 'sql.js';
const SQL = await initSqlJs();
const db = new SQL.Database();
db.run('create table orders (id int, name text); insert into orders values (1, "one"), (2, "two");');
console.log(JSON.stringify(db.exec('select * from orders')));
const low = await JSONFilePreset('low.json', { items: [] });
await low.update(({ items }) => items.push('one'));
console.log(low.data);
const postgres = new PGlite();
console.log((await postgres.query('select 1 + 1 as two')).rows);
await postgres.close();
try {
  const level = new Level('level', { valueEncoding: 'json' });
  await level.put('a', { b: 1 });
  console.log(await level.get('a'));
  await level.close();
} catch (error) {
  console.log('level', error.code);
}
db.exec('select * from nowhere');
