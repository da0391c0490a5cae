/**
 * Eighteen further faults, written before the rules of version 3 and not looked at while those were developed: they check
 * what was learned from the first eighteen. Each is in its own module below `faults/`, with `run` as the entry point.
 */
export const secondFaults: Record<string, string> = {
  'order-gone': `
    import { Client } from '../lib/client.mjs';
    export class Orders {
      constructor() { this.client = new Client('orders'); }
      load(id) { return this.client.get(id); }
    }
    export function run() { return new Orders().load('o-' + process.pid); }`,
  'user-gone': `
    import { Client } from '../lib/client.mjs';
    export class Users {
      constructor() { this.client = new Client('users'); }
      load(id) { return this.client.get(id); }
    }
    export function run() { return new Users().load('u-' + process.pid); }`,
  'wrong-currency': `
    import { convert } from '../lib/money.mjs';
    const priceOf = (item) => convert(item.price, item.currency);
    export function run() { return priceOf({ price: 3, currency: 'XXX' }); }`,
  'wrong-tax': `
    import { convert } from '../lib/money.mjs';
    const taxOf = (invoice) => convert(invoice.tax, invoice.country.currency);
    export function run() { return taxOf({ tax: 3, country: { currency: 'YYY' } }); }`,
  'broken-upload': `
    import { strict as assert } from 'node:assert';
    function store(upload) { assert.equal(upload.chunks.length, upload.expected); }
    export function run() { store({ chunks: [1, 2], expected: 3 }); }`,
  'null-session': `
    export const middleware = (request) => { request.user = request.session.user; };
    export function run() { middleware({ session: null }); }`,
  'undefined-plugin': `
    const plugins = { gzip: () => {} };
    export function activate(name) { return plugins[name](); }
    export function run() { activate('brotli'); }`,
  'bad-date': `
    function formatDay(value) { return new Date(value).toISOString(); }
    export function run() { formatDay('no day'); }`,
  'huge-array': `
    function allocate(count) { return new Array(count); }
    export function run() { return allocate(-process.pid); }`,
  'frozen-settings': `
    const settings = Object.freeze({ retries: 3 });
    function raise(by) { settings.retries += by; }
    export function run() { raise(1); }`,
  'not-a-pair': `
    function split(pair) { const [name, value] = pair; return name + value; }
    export function run() { split(process.pid); }`,
  'no-such-host': `
    import { connect } from 'node:net';
    async function dial(path) { await new Promise((done, fail) => connect(path, done).on('error', fail)); }
    export async function run() { await dial('/nowhere/' + process.pid + '.sock'); }`,
  'denied-file': `
    import { promises } from 'node:fs';
    async function append(path) { await promises.appendFile(path, 'x'); }
    export async function run() { await append('/proc/self/nothing-' + process.pid); }`,
  'all-mirrors': `
    async function fetchFrom(mirror) { throw new Error('mirror ' + mirror + ' is down'); }
    async function download() { return Promise.any([1, 2, 3].map(fetchFrom)); }
    export async function run() { await download(); }`,
  'wrapped-query': `
    import { query } from '../lib/query.mjs';
    function findCart(id) {
      try { return query('select * from carts where id = ' + id); }
      catch (cause) { throw new Error('the cart could not be read', { cause }); }
    }
    export function run() { return findCart(process.pid); }`,
  'plain-query': `
    import { query } from '../lib/query.mjs';
    function countCarts(shop) { return query('select count(*) from cart where shop = ' + shop); }
    export function run() { return countCarts(process.pid); }`,
  'too-deep': `
    function flatten(value, out) { for (const one of value) Array.isArray(one) ? flatten(one, out) : out.push(one); }
    export function run() { const list = []; list.push(list); flatten(list, []); }`,
  'unheard-error': `
    import { EventEmitter } from 'node:events';
    class Feed extends EventEmitter { stop(code) { this.emit('error', new Error('the feed ended with ' + code)); } }
    export function run() { new Feed().stop(process.pid % 100); }`,
};

export const secondLib: Record<string, string> = {
  'lib/client.mjs': `
    class HttpError extends Error { constructor(status, path) { super('GET ' + path + ' answered ' + status); this.name = 'HttpError'; this.status = status; } }
    export class Client {
      constructor(service) { this.service = service; }
      get(id) { return this.check(404, '/' + this.service + '/' + id); }
      check(status, path) { if (status !== 200) throw new HttpError(status, path); }
    }`,
  'lib/money.mjs': `
    const rates = { EUR: 1, USD: 1.1 };
    export function convert(amount, currency) {
      if (!(currency in rates)) throw new RangeError('unknown currency');
      return amount * rates[currency];
    }`,
  'lib/query.mjs': `
    class QueryError extends Error { name = 'QueryError'; code = '42P01'; }
    function run(text) { throw new QueryError('relation of "' + text + '" does not exist'); }
    export function query(text) { return run(text); }`,
};
