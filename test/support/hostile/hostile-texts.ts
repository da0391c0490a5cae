/** Texts that are designed to be slow: each repeats one short piece, so that twice the input has twice the pieces. */
export function hostileText(piece: string, length: number): string {
  return piece.repeat(Math.ceil(length / piece.length)).slice(0, length);
}

export const hostilePieces: Record<string, string> = {
  'one letter': 'A',
  'one digit': '7',
  'model key starts': 'sk-',
  'token starts': 'eyJ.',
  'token parts': 'eyJhbGci-',
  'empty names': '"key":"',
  'password names': 'password=',
  'password with open quotes': "password='",
  'nested quotes': '\\"password\\":\\"',
  backslashes: '\\',
  'percent signs': '%25',
  'encoded equals': 'token%3D',
  'address starts': 'a://b:',
  'address signs': '://u@',
  'block starts': '-----BEGIN RSA PRIVATE KEY-----',
  'block ends': 'AAAA\n-----END PRIVATE KEY-----',
  'base64 of text': 'cGFzc3dvcmQ9',
  'headers of one line': 'Authorization: Bearer ',
  'cookies without end': 'Cookie: a=b; ',
  'names and values': '{"name":"token","value":',
  'YAML blocks': 'password: |\n  ',
  'dollar signs': '$argon2id$v=',
  'flags without values': '--token --password ',
  'dots and tildes': 'a.b~Q~.',
  'opening brackets': '"secret":["",',
  'long connectors': '_-',
  'escaped bytes': '\\x61\\x62',
  'escaped letters': 'p\\u0061',
  'headers of tables': 'a,password\n',
  'commands of a pipeline': '::add-mask::',
};
