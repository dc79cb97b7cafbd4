class Cat:
    def speak(self):
        return "meow"


class Dog:
    def speak(self):
        return "woof"


def talk(animal: Cat | Dog, maybe: Cat | None):
    animal.speak()
    if maybe:
        maybe.speak()
    if isinstance(animal, Dog):
        animal.speak()


def pick(flag: bool):
    animal = Cat() if flag else Dog()
    return animal.speak()
