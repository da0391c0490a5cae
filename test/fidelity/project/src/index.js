const { add, divide } = require('./math');

function main(words) {
  const total = words.map(Number).reduce(add, 0);
  console.log(`total ${total}, half ${divide(total, 2)}`);
  return total;
}

if (require.main === module) main(process.argv.slice(2));
module.exports = { main };
