/**
 * Ways in which programs, shells, databases and protocols write a name and its secret. They were written before the rules
 * that find them, to measure how a redactor handles forms that nobody anticipated. Every value is generated from a seed at
 * run time.
 */

import { fillTemplate, type Random, SeededRandom } from '../synth/seeded-random.ts';
import type { CorpusItem } from './secret-corpus.ts';
import { base64, commandForms, fileForms, headerForms, pemForms, pemKinds } from './secret-forms-named.ts';

type NamedForm = (name: string, secret: string) => string;

const under = (name: string): string => name.replaceAll(/[-.]/g, '_');
const shout = (name: string): string => under(name).toUpperCase();

/** Shells, container files and deployment tools. */
const shellForms: Record<string, NamedForm> = {
  'Dockerfile ENV': (n, s) => `FROM node:22\nENV ${shout(n)} ${s}\nRUN npm ci\n`,
  'Dockerfile ENV with sign': (n, s) => `ENV A=1 ${shout(n)}=${s} B=2\n`,
  'Dockerfile ARG': (n, s) => `ARG ${shout(n)}=${s}\n`,
  setx: (n, s) => `C:\\app> setx ${shout(n)} ${s}`,
  'setx quoted': (n, s) => `setx ${shout(n)} "${s}" /M`,
  'Windows set': (n, s) => `C:\\app>set ${shout(n)}=${s}\r\n`,
  'Windows set quoted': (n, s) => `SET "${shout(n)}=${s}"\r\n`,
  PowerShell: (n, s) => `$env:${shout(n)} = "${s}"`,
  'PowerShell single': (n, s) => `PS C:\\> $Env:${shout(n)}='${s}'; node app.js`,
  'PowerShell .NET': (n, s) => `[Environment]::SetEnvironmentVariable("${shout(n)}", "${s}", "User")`,
  'PowerShell secure': (n, s) => `$${under(n)} = ConvertTo-SecureString '${s}' -AsPlainText -Force`,
  fish: (n, s) => `set -gx ${shout(n)} ${s}\n`,
  csh: (n, s) => `setenv ${shout(n)} ${s}\n`,
  'before a command': (n, s) => `$ ${shout(n)}=${s} node app.js --port 80`,
  'docker run': (n, s) => `docker run -d -e ${shout(n)}=${s} -p 80:80 app:1`,
  'build argument': (n, s) => `docker build --build-arg ${shout(n)}=${s} .`,
  'helm set': (n, s) => `helm upgrade app ./chart --set auth.${n}=${s},replicas=2`,
  'heroku config': (n, s) => `heroku config:set ${shout(n)}=${s} -a app`,
  'fly secrets': (n, s) => `fly secrets set ${shout(n)}=${s}`,
  'gh secret': (n, s) => `gh secret set ${shout(n)} --body ${s}`,
  'kubectl literal': (n, s) => `kubectl create secret generic x --from-literal=${n}=${s}`,
  systemd: (n, s) => `[Service]\nEnvironment="${shout(n)}=${s}"\n`,
  'config set': (n, s) => `aws configure set ${n} ${s}`,
  'git config': (n, s) => `git config --global acme.${n} ${s}`,
  'npm config set': (n, s) => `npm config set ${n} ${s}`,
  'PM2 log': (n, s) => `0|app  | ${shout(n)}: ${s}`,
  'env dump': (n, s) => `declare -x ${shout(n)}="${s}"\ndeclare -x PATH="/bin"`,
  'shell trace': (n, s) => `+ export ${shout(n)}=${s}\n+ node app.js`,
  'here document': (n, s) => `cat <<EOF\n${n}=${s}\nEOF`,
};

/** Source code and configuration files in many languages. */
const sourceForms: Record<string, NamedForm> = {
  HCL: (n, s) => `resource "aws_db_instance" "x" {\n  username = "app"\n  ${under(n)}   = "${s}"\n}`,
  'HCL variable': (n, s) => `variable "${under(n)}" {\n  type    = string\n  default = "${s}"\n}`,
  'terraform -var': (n, s) => `terraform apply -var '${under(n)}=${s}' -auto-approve`,
  'terraform plan': (n, s) => `      + ${under(n)} = "${s}"`,
  'Ruby rocket': (n, s) => `Client.new(:user => "bob", :${under(n)} => "${s}")`,
  'Ruby string rocket': (n, s) => `{ "user" => "bob", "${n}" => '${s}' }`,
  'Ruby inspect': (n, s) => `#<Client:0x0001 @user="bob", @${under(n)}="${s}">`,
  'Ruby ENV': (n, s) => `ENV['${shout(n)}'] = '${s}'`,
  'Ruby fetch': (n, s) => `ENV.fetch('${shout(n)}', '${s}')`,
  'PHP define': (n, s) => `define('${shout(n)}', '${s}');`,
  'PHP variable': (n, s) => `$${under(n)} = '${s}';`,
  'PHP array': (n, s) => `['user' => 'bob', '${n}' => '${s}']`,
  'PHP nested': (n, s) => `$config['db']['${n}'] = '${s}';`,
  'PHP putenv': (n, s) => `putenv("${shout(n)}=${s}");`,
  'PHP print_r': (n, s) => `Array\n(\n    [user] => bob\n    [${n}] => ${s}\n)`,
  'PHP var_dump': (n, s) => `  ["${n}"]=>\n  string(${s.length}) "${s}"`,
  'PHP serialized': (n, s) => `a:1:{s:${n.length}:"${n}";s:${s.length}:"${s}";}`,
  'Java property': (n, s) => `spring.datasource.${n}=${s}\nserver.port=80\n`,
  'Java property with colon': (n, s) => `acme.client.${n}: ${s}\n`,
  'Java set': (n, s) => `props.setProperty("${n}", "${s}");`,
  'Java put': (n, s) => `map.put("${n}", "${s}");`,
  'Java constant': (n, s) => `private static final String ${shout(n)} = "${s}";`,
  'Java flag': (n, s) => `java -D${n}=${s} -jar app.jar`,
  'Java toString': (n, s) => `Config{user='bob', ${under(n)}='${s}', port=80}`,
  'Java record': (n, s) => `Config[user=bob, ${under(n)}=${s}, port=80]`,
  'Go setenv': (n, s) => `os.Setenv("${shout(n)}", "${s}")`,
  'Go short': (n, s) => `${under(n)} := "${s}"`,
  'Go struct': (n, s) => `&{User:bob ${under(n)}:${s} Port:80}`,
  'Go map': (n, s) => `map[user:bob ${n}:${s}]`,
  'Go map literal': (n, s) => `map[string]string{"${n}": "${s}"}`,
  'Rust option': (n, s) => `Config { user: "bob", ${under(n)}: Some("${s}"), port: 80 }`,
  'Rust string': (n, s) => `${under(n)}: "${s}".to_string(),`,
  'Rust const': (n, s) => `const ${shout(n)}: &str = "${s}";`,
  'Python environ': (n, s) => `os.environ["${shout(n)}"] = "${s}"`,
  'Python default': (n, s) => `os.environ.get("${shout(n)}", "${s}")`,
  'Python dict': (n, s) => `{'user': 'bob', '${n}': '${s}'}`,
  'Python bytes': (n, s) => `{b'${n}': b'${s}'}`,
  'Python typed': (n, s) => `${under(n)}: str = "${s}"`,
  'Python repr': (n, s) => `Settings(user='bob', ${under(n)}='${s}', port=80)`,
  'Python pairs': (n, s) => `[('user', 'bob'), ('${n}', '${s}')]`,
  'Python wrapped': (n, s) => `${under(n)}=SecretStr('${s}')`,
  'Python logged JSON': (n, s) => `INFO body='{"user": "bob", "${n}": "${s}"}'`,
  'process.env': (n, s) => `process.env.${shout(n)} = '${s}';`,
  'process.env index': (n, s) => `process.env["${shout(n)}"] = "${s}"`,
  'default behind ||': (n, s) => `const ${under(n)} = process.env.${shout(n)} || '${s}';`,
  'default behind ??': (n, s) => `${under(n)}: process.env.${shout(n)} ?? "${s}",`,
  setItem: (n, s) => `localStorage.setItem('${n}', '${s}')`,
  'headers.set': (n, s) => `headers.set("${n}", "${s}")`,
  'form append': (n, s) => `form.append('${n}', '${s}');`,
  'inspected Map': (n, s) => `Map(2) { 'user' => 'bob', '${n}' => '${s}' }`,
  'Map entries': (n, s) => `new Map([['user', 'bob'], ['${n}', '${s}']])`,
  'inspected private': (n, s) => `Client { [Symbol(${n})]: '${s}' }`,
  'inspected getter': (n, s) => `{\n  [${n}]: '${s}'\n}`,
  'inspected lines': (n, s) => `{\n  user: 'bob',\n  '${n}':\n    '${s}',\n}`,
  'inspected JSON': (n, s) => `{ body: '{"user":"bob","${n}":"${s}"}' }`,
  'key and value': (n, s) => `{ key: '${n}', value: '${s}', enabled: true }`,
  'Key and Value': (n, s) => JSON.stringify({ Tags: [{ Key: n, Value: s }] }),
  JSX: (n, s) => `<Client ${under(n)}={"${s}"} retry />`,
  'typed assignment': (n, s) => `private readonly ${under(n)}: string = '${s}';`,
  'C macro': (n, s) => `#define ${shout(n)} "${s}"`,
  'C# property': (n, s) => `new Client { User = "bob", ${under(n)} = "${s}" }`,
  Lua: (n, s) => `config["${n}"] = [[${s}]]`,
  'Elixir config': (n, s) => `config :app, ${under(n)}: "${s}"`,
  Nix: (n, s) => `services.app.${n} = "${s}";`,
  nginx: (n, s) => `proxy_set_header ${n} "${s}";`,
};

/** Data formats. */
const dataForms: Record<string, NamedForm> = {
  element: (n, s) => `<user>bob</user><${n}>${s}</${n}>`,
  'element with attribute': (n, s) => `<ns:${n} type="text">${s}</ns:${n}>`,
  'element on lines': (n, s) => `<${n}>\n    ${s}\n</${n}>`,
  CDATA: (n, s) => `<${n}><![CDATA[${s}]]></${n}>`,
  'escaped element': (n, s) => `body: &lt;${n}&gt;${s}&lt;/${n}&gt;`,
  'JSON element': (n, s) => JSON.stringify({ xml: `<${n} a="1">${s}</${n}>` }),
  attribute: (n, s) => `<ds url='x' ${n}='${s}' max='5'/>`,
  'key attribute': (n, s) => `<add key="${n}" value="${s}" />`,
  'name attribute': (n, s) => `<property name="${n}" value="${s}"/>`,
  'name attribute and text': (n, s) => `<property name="${n}">${s}</property>`,
  'entry text': (n, s) => `<entry key="${n}">${s}</entry>`,
  plist: (n, s) => `<key>${n}</key>\n<string>${s}</string>`,
  'YAML block': (n, s) => `db:\n  ${n}: |\n    ${s}\n  port: 1\n`,
  'YAML folded': (n, s) => `${n}: >-\n  ${s}\nport: 1\n`,
  'YAML flow': (n, s) => `auth: {user: bob, ${n}: ${s}, retry: 3}`,
  'YAML quoted name': (n, s) => `"${n}": ${s}\n`,
  'YAML anchor': (n, s) => `${n}: &pw ${s}\n`,
  'YAML tag': (n, s) => `${n}: !!str ${s}\n`,
  'YAML comment': (n, s) => `${n}: ${s} # rotated in May\n`,
  'YAML list': (n, s) => `environment:\n  - ${shout(n)}=${s}\n`,
  'YAML value below': (n, s) => `${n}:\n  ${s}\n`,
  'TOML inline': (n, s) => `auth = { user = "bob", ${n} = "${s}" }`,
  'TOML triple': (n, s) => `${n} = """${s}"""`,
  dotenv: (n, s) => `${shout(n)}='${s}' # do not commit\n`,
  'dotenv blanks': (n, s) => `${shout(n)} = ${s}\n`,
  'JSON once': (n, s) => `body: ${JSON.stringify(JSON.stringify({ a: 1, [n]: s }))}`,
  'JSON twice': (n, s) => JSON.stringify(JSON.stringify(JSON.stringify({ a: 1, [n]: s }))),
  'JSON thrice in log': (n, s) =>
    `E ${JSON.stringify({ a: JSON.stringify({ b: JSON.stringify({ c: JSON.stringify({ [n]: s }) }) }) })}`,
  'JSON pretty in JSON': (n, s) => JSON.stringify({ out: JSON.stringify({ a: { [n]: s } }, null, 2) }),
  'JSON with array': (n, s) => JSON.stringify({ [n]: [s, 'x'] }),
  'JSON cut': (n, s) => `{"user":"bob","${n}":"${s}`,
  JSON5: (n, s) => `{\n  // dev\n  ${under(n)}: '${s}',\n}`,
  'base64 of JSON': (n, s) => base64(JSON.stringify({ user: 'bob', [n]: s })),
  CSV: (n, s) => `name,value\n${n},${s}\n`,
  'table row': (n, s) => `| ${n} | ${s} |`,
  'terminal table': (n, s) => `│ ${n} │ ${s} │`,
  'console.table': (n, s) => `│ 0       │ '${n}' │ '${s}' │`,
  'Markdown code': (n, s) => `**${n}**: \`${s}\``,
  'HTML input': (n, s) => `<input type="hidden" name="${n}" value="${s}">`,
  'HTML cells': (n, s) => `<tr><td>${n}</td><td>${s}</td></tr>`,
  multipart: (n, s) => `--b1\r\nContent-Disposition: form-data; name="${n}"\r\n\r\n${s}\r\n--b1--`,
  'multipart in JSON': (n, s) =>
    JSON.stringify({ b: `--b1\r\nContent-Disposition: form-data; name="${n}"\r\n\r\n${s}\r\n--b1` }),
  'form body': (n, s) => `user=bob&${n}=${encodeURIComponent(s)}&go=1`,
  'encoded query': (n, s) => `/login?next=${encodeURIComponent(`/x?a=1&${n}=${encodeURIComponent(s)}&b=2`)}`,
  'doubly encoded query': (n, s) => `u=${encodeURIComponent(encodeURIComponent(`/x?a=1&${n}=${s}&b=2`))}`,
  'encoded JSON query': (n, s) => `/api?filter=${encodeURIComponent(JSON.stringify({ a: 1, [n]: s }))}`,
  fragment: (n, s) => `https://a.example/cb#${n}=${encodeURIComponent(s)}&token_type=x`,
  matrix: (n, s) => `/a;v=1;${n}=${encodeURIComponent(s)}/b`,
  GraphQL: (n, s) => `mutation { login(user: "bob", ${under(n)}: "${s}") { id } }`,
  'GraphQL in JSON': (n, s) =>
    JSON.stringify({ query: `mutation { login(u: "bob", ${under(n)}: "${s}") { id } }` }),
  'protobuf text': (n, s) => `user: "bob"\n${under(n)}: "${s}"\nport: 80`,
  'logfmt quoted': (n, s) => `level=info ${n}="${s}" pid=7`,
  'log arrow': (n, s) => `config ${n} -> ${s}`,
  'log equals': (n, s) => `setting ${n} = ${s} for worker 3`,
  'log to': (n, s) => `changed ${n} from (unset) to '${s}'`,
  diff: (n, s) => `-${n}: old\n+${n}: ${s}\n`,
  'grep line': (n, s) => `config/app.yml:14:  ${n}: ${s}`,
  'SQL set': (n, s) => `UPDATE users SET ${under(n)} = '${s}' WHERE id = 7`,
  'SQL where': (n, s) => `SELECT 1 FROM t WHERE "${under(n)}"='${s}' LIMIT 1`,
  'SQL options': (n, s) => `OPTIONS (user 'bob', ${under(n)} '${s}')`,
  'libpq string': (n, s) => `host=db user=app ${n}=${s} sslmode=require`,
};

const names = [
  'password',
  'db_password',
  'dbPassword',
  'api_key',
  'apiKey',
  'x-api-key',
  'client_secret',
  'clientSecret',
  'token',
  'access_token',
  'authToken',
  'refresh_token',
  'secret',
  'secret_key',
  'private_key',
  'passphrase',
  'sessionToken',
  'root_password',
  'webhook_secret',
  'encryptionKey',
  'service-token',
  'admin_passwd',
]; // prettier-ignore

/** What people and generators choose. */
const values = {
  short: '{a5}{d2}{a2}',
  mixed: '{A5}!{A4}9{a1}',
  letters: '{A24}7',
  hex: '{h32}',
  base64: '{b38}9/',
  dashed: '{a4}-{a4}-{a4}-{a3}8',
};
type ValueKind = keyof typeof values;

/** Every form, with values that fit it. */
export function makeForms(seed: number): CorpusItem[] {
  const random = new SeededRandom(seed);
  const items: CorpusItem[] = [];
  for (const forms of [shellForms, sourceForms, dataForms])
    for (const [form, write] of Object.entries(forms))
      for (const kind of ['short', 'letters', 'dashed', 'mixed'] as const) {
        const secret = draw(kind, random);
        if (kind === 'mixed' && !/quoted|JSON|Python|Java set|HCL|Ruby|encoded/.test(form)) continue;
        items.push(item(form, kind, write(random.pick(names), secret), secret));
      }
  for (const forms of [commandForms, headerForms, fileForms])
    for (const [form, write] of Object.entries(forms))
      for (const kind of ['short', 'letters', 'hex'] as const) {
        const secret = draw(kind, random);
        const shown =
          form.includes('proxy basic') || form.includes('SMTP PLAIN') || /k8s secret(?!D)/.test(form);
        items.push(item(form, kind, write(secret), shown ? encodedCore(form, secret) : secret));
      }
  addKeys(items, random);
  return items;
}

const draw = (kind: ValueKind, random: Random): string => fillTemplate(values[kind], random);

/** The part of the base64 text that depends on the secret alone. */
function encodedCore(form: string, secret: string): string {
  if (form.startsWith('k8s')) return base64(secret).slice(0, -4);
  return base64(form === 'SMTP PLAIN' ? `\0bob\0${secret}` : `bob:${secret}`).slice(8, -4);
}

function item(form: string, kind: string, text: string, secret: string): CorpusItem {
  return { class: 'context', label: `${form} / ${kind}`, text, secret };
}

function addKeys(items: CorpusItem[], random: Random): void {
  for (const [form, write] of Object.entries(pemForms))
    for (const kind of pemKinds) {
      const lines = Array.from({ length: 8 }, () => fillTemplate('{b64}', random));
      const armoured = `-----BEGIN ${kind}-----\n${lines.join('\n')}\n-----END ${kind}-----`;
      const middle = lines[4]!;
      const secret = form === 'base64' ? base64(armoured).slice(240, 300) : middle;
      items.push(item(`PEM ${form}`, kind, write(armoured), secret));
    }
}
