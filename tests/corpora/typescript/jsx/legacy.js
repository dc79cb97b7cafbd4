/** A constructor of the old kind. */
function Legacy(name) {
  this.name = name;
}

Legacy.prototype.greet = function () {
  return shout(this.name);
};

function shout(text) {
  return text.toUpperCase();
}

export const legacy = new Legacy("old");
legacy.greet();
