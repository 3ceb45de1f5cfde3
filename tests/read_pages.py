"""Pages as a test reads them."""

from html.parser import HTMLParser

VOID = {"img", "meta", "br"}


class Page(HTMLParser):
    """Reads a page strictly: tags close in order, and collects what the tests look at."""

    def __init__(self, text: str):
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.words: list[str] = []
        self.headings: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, name, attributes):
        self.tags.append((name, dict(attributes)))
        if name not in VOID:
            self.open.append(name)

    def handle_endtag(self, name):
        assert self.open.pop() == name

    def handle_data(self, text):
        self.words.append(text)
        if self.open and self.open[-1] == "h2":
            self.headings.append(text)

    @property
    def text(self) -> str:
        return " ".join(self.words)

    def all(self, name: str) -> list[dict[str, str]]:
        return [attributes for found, attributes in self.tags if found == name]
