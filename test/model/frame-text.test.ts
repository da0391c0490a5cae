import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bareNativeName } from '../../src/model/frame-text.ts';

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
];

for (const [name, bare] of cases) test(name, () => assert.equal(bareNativeName(name), bare));
