function later() {
  throw new TypeError('thrown later');
}
setTimeout(later, 5);
