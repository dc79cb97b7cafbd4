def größe(text="😀"):
    return text


größe("😀"); größe()


class Ä:
    def método(self): return "😀", self.método()
