import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareNativeName, culpritFrame } from '../../src/model/frame-text.ts';
import type { Frame } from '../../src/model/thread.ts';

const cases: [string, string][] = [
  ['node::Start(int, char**)', 'node::Start'],
  ['uv_run', 'uv_run'],
  ['void v8::internal::Sort<int, std::less<int> >::Run<false>(int*) const', 'v8::internal::Sort::Run'],
  ['node::(anonymous namespace)::DefaultAbortHandler()', 'node::{anonymous}::DefaultAbortHandler'],
  [
    'int node::http_parser::Parser::Proxy<int (node::http_parser::Parser::*)(), &(node::http_parser::Parser::on_headers_complete())>::Raw(llhttp_t*)',
    'node::http_parser::Parser::Proxy::Raw',
  ],
  ['a::Less::operator()(int, int) const', 'a::Less::operator()'],
  ['bool a::operator< <int>(a::B<int> const&)', 'a::operator<'],
  ['std::ostream& std::operator<< <char>(std::ostream&, char const*)', 'std::operator<<'],
  ['a::P::operator->() const', 'a::P::operator->'],
  ['a::P::operator bool() const', 'a::P::operator bool'],
  ['operator new(unsigned long)', 'operator new'],
  ['<alloc::vec::Vec<T> as core::fmt::Debug>::fmt', '<alloc::vec::Vec<T> as core::fmt::Debug>::fmt'],
  ['f(a)::{lambda(int)#1}::operator()(int) const', 'f'],
  ['((', '(('],
  ['decltype(auto) x::y(int)', 'x::y'],
  ['decltype(a.b()) x::y(int)', 'decltype(a.b()) x::y(int)'],
  ['decltype (a.b()) x::y<int>(int)', 'x::y'],
  ['void (*foo(int))(char)', 'void (*foo(int))(char)'],
  [
    'std::string const& (a::B::*a::foo(int))(char) const',
    'std::string const& (a::B::*a::foo(int))(char) const',
  ],
  ['int (&rows())[3]', 'int (&rows())[3]'],
  ['unsigned int (int)', 'unsigned int (int)'],
  ['voidable(int)', 'voidable'],
];

for (const [name, bare] of cases) test(name, () => assert.equal(bareNativeName(name), bare));

const frame = (file: string, inApp = false): Frame => ({ file, inApp, line: 1, trust: 'stack-text' });

test('the frame to open is never one of the preload', () => {
  const node = frame('node:net');
  for (const file of [
    '/app/node_modules/agentdump/dist/register.cjs:recording-half',
    'C:\\app\\node_modules\\agentdump\\dist\\register-tests.cjs:testing-half',
    '/home/me/agentdump/dist/register.cjs',
    'agentdump:deadline',
  ]) {
    assert.equal(culpritFrame([frame(file)]), undefined);
    assert.equal(culpritFrame([node, frame(file)]), node);
    const inPackage = frame('/app/node_modules/p/a.js');
    assert.equal(culpritFrame([node, frame(file), inPackage]), inPackage);
  }
});

test('what a program runs that is itself installed comes before it, on any system', () => {
  for (const runner of [
    '/app/node_modules/runner/a.js',
    'C:\\app\\node_modules\\runner\\a.js',
    'node_modules\\r\\a.js',
  ]) {
    const own = frame('/app/test.js', true);
    assert.equal(culpritFrame([frame(runner, true), own]), own);
  }
});
