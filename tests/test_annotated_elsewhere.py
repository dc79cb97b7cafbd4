"""Types that annotations of TypeScript and Java name: a container injects them, a framework reads them from a request or writes them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support import crawl_with_ty, write_tree
from toolchains import requires

from query import api, open_index
from query.facts.index import Index

FILES: dict[str, str | bytes] = {
    "package.json": '{"name": "cats", "version": "1.0.0"}',
    "tsconfig.json": '{"compilerOptions": {"experimentalDecorators": true, "strict": true}, "include": ["src"]}',
    "node_modules/web/package.json": '{"name": "web", "version": "1.0.0", "types": "index.d.ts"}',
    "node_modules/web/index.d.ts": """
export declare function Injectable(): ClassDecorator;
export declare function Module(given: { providers: any[] }): ClassDecorator;
export declare function Post(): MethodDecorator;
export declare function Body(): ParameterDecorator;
export declare function provide(routes: object[]): void;
export declare function Nested(): PropertyDecorator;
""",
    "src/cats.ts": """
import { Body, Injectable, Module, Nested, Post } from 'web';

export class CatForm {
  toy!: Toy;
  get label() { return 'cat'; }
}

export class Toy {}

export class Options {}

export class Collar {}

export class Plain {}

export class Made {
  @Nested() collar!: Collar;
}

@Injectable()
export class Service {
  constructor(private readonly options: Options) {}
  @Post() create(@Body() form: CatForm): Made { return new Made(); }
  unregistered(plain: Plain) { return plain; }
}

@Module({ providers: [Service] })
export class Application {}
""",
    "src/entity.ts": """
import { Nested } from 'web';

export class Entity {
  @Nested() created!: number;
  @Nested() unnamed!: number;
  plain!: number;
}

export const order = ['entity.created', 'entity.plain', 'unnamed things'];
""",
    "src/main/java/demo/Row.java": """
package demo;

class Row {
    @org.web.Column
    private String lastName;

    @org.web.Column
    private String title;

    private String plain;

    String query() {
        return "SELECT r FROM Row r WHERE r.title = :title AND r.plain = 'plain'";
    }
}

interface Rows extends org.web.Repository {
    Row findFirstByLastNameAndPlain(String lastName, String plain);
}
""",
    "src/routes.ts": "export const routes = [{ path: '', children: [{ load: () => 1 }] }];\nexport const kept = [{ store: () => 1 }];\n",
    "src/config.ts": """import { provide } from 'web';
import { kept, routes } from './routes';
provide(routes);
export const all = kept.length;
""",
    "src/test/java/demo/FormTest.java": """
package demo;

@org.web.Boots
public class FormTest {
    @org.junit.jupiter.api.Test
    public void works() {
    }

    public void helps() {
    }
}
""",
    "src/main/java/demo/Missing.java": """
package demo;

class Missing extends RuntimeException {
    static Object of(java.util.Optional<Object> found) {
        return found.orElseThrow(Missing::new);
    }
}
""",
    "src/lists.ts": """
import { Module } from 'web';
class One { private run() {} use() { this.run(); } }
class Other { run() {} }
class Another { run() {} use() { this.run(); } }

@Module({ providers: [One], controllers: [Other, Another] } as any)
export class Lists { run() { new One().use(); } }

class Left { go() {} use() { this.go(); } }
class Right { go() {} use() { this.go(); } }
export const made = { left: [new Left()], right: [new Right()] };
""",
    "src/main/java/demo/Service.java": """
package demo;

@org.web.Service
public class Service {
    private final Store store;

    public Service(Store store) {
        this.store = store;
    }

    @org.web.Post
    public Shown create(@org.web.Body Form form) {
        return new Shown();
    }

    Plain unregistered(Plain plain) {
        return plain;
    }
}

class Store {
}

class Plain {
    public String getName() {
        return "";
    }
}
""",
    "src/main/java/demo/Form.java": """
package demo;

public class Form {
    private Part part;

    public void setPart(Part part) {
        this.part = part;
    }

    public void forget() {
        this.part = null;
    }
}

class Part {
}
""",
    "src/main/java/demo/Job.java": """
package demo;

@org.web.Runs(Job.class)
class Runner implements org.web.Startable {
    public void start() {
        log();
    }

    public void open() {
        log();
    }

    private void log() {
    }
}

class Job {
    @org.web.Inject
    private Runner runner;

    void plain() {
    }
}
""",
    "src/main/java/demo/Shown.java": """
package demo;

public class Shown {
    public String getName() {
        return "";
    }
}
""",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    requires("ts7")
    requires("javac")
    root = write_tree(tmp_path_factory.mktemp("annotated") / "clone", FILES)
    crawl_with_ty(root, jobs=1)
    with open_index(root) as made:
        yield made


def _reasons(index: Index, name: str) -> dict[str, str]:
    answer = api.find_callers(index, name, direction="incoming")
    return {reason.code: reason.detail for reason in answer.completeness.reasons}


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("src.cats.CatForm", "the head of 'create' names it, which is registered by 'Post' at src/cats.ts:24: its caller may make one"),
        ("src.cats.Toy", "a field of 'CatForm' is of it (src/cats.ts:5), and the head of 'create' names 'CatForm', which is registered by"),
        ("src.cats.Options", "the head of 'constructor' names it, which is registered by 'Injectable' at src/cats.ts:21"),
        ("src.cats.Collar", "a field of 'Made' is of it, which 'Nested' stands before: a library may make one: src/cats.ts:18"),
        ("demo.Form", "the head of 'create' names it, which is registered by 'web.Post' at src/main/java/demo/Service.java:12"),
        ("demo.Part", "a field of 'Form' is of it (src/main/java/demo/Form.java:5), and the head of 'create' names 'Form'"),
        ("demo.Store", "the head of 'Service' names it, which is registered by 'web.Service' at src/main/java/demo/Service.java:4"),
    ],
)
def test_what_a_container_or_a_framework_makes_is_a_reason(index: Index, name: str, said: str) -> None:
    assert api.find_callers(index, name, direction="incoming").total == 0
    assert said in _reasons(index, name)["registered"]


@pytest.mark.parametrize("name", ["src.cats.CatForm.label", "demo.Form.setPart", "demo.Shown.getName"])
def test_what_reads_and_writes_an_object_that_a_framework_has_is_a_reason(index: Index, name: str) -> None:
    said = _reasons(index, name)["handed_over"]
    assert f"nothing here calls '{name.rpartition('.')[2]}', and a library is given what has it at 1 place" in said


@pytest.mark.parametrize("name", ["src.cats.Plain", "demo.Plain", "demo.Plain.getName", "demo.Form.forget"])
def test_what_no_framework_is_told_of_has_none(index: Index, name: str) -> None:
    """A method of a registered type that is not registered itself; a method that is no accessor."""
    assert _reasons(index, name) == {}


def test_a_class_literal_in_an_annotation_may_make_objects(index: Index) -> None:
    assert "the class 'Job' is a value, and whoever has it may make objects of it: src/main/java/demo/Job.java:4" in str(
        _reasons(index, "demo.Job")["escapes"]
    )


def test_a_reference_to_a_constructor_that_nobody_wrote_may_make_objects(index: Index) -> None:
    assert "whoever has it may make objects of it: src/main/java/demo/Missing.java:6" in _reasons(index, "demo.Missing")["escapes"]


def test_what_a_list_has_that_a_library_is_given_may_be_called(index: Index) -> None:
    assert "is given what has it at 1 place, and may call it: src/config.ts:3" in _reasons(index, "src.routes.load")["handed_over"]
    assert _reasons(index, "src.routes.store") == {}


def test_who_runs_tests_is_not_asked_for(index: Index) -> None:
    assert _reasons(index, "demo.FormTest.works") == {}
    assert "is given what has it at 1 place" in _reasons(index, "demo.FormTest.helps")["handed_over"]


def test_a_constructor_is_run_by_what_keeps_its_type(index: Index) -> None:
    assert "registered by 'Injectable' at src/cats.ts:21" in _reasons(index, "src.cats.Service.constructor")["registered"]


def test_an_annotation_of_a_field_is_not_of_the_method_below(index: Index) -> None:
    assert _reasons(index, "demo.Job.plain") == {}


def test_a_base_outside_calls_no_private_member(index: Index) -> None:
    callers = {name: api.find_callers(index, f"demo.Runner.{name}", direction="incoming").completeness for name in ("log", "open")}
    assert callers["log"].status == "complete"
    assert [reason.code for reason in callers["open"].reasons] == ["unresolved_base", "registered"]


def test_lists_of_different_names_are_no_union(index: Index) -> None:
    """`{ providers: [Service], controllers: [Controller] }`; what stands in one list is, and objects that may meet."""
    one, other = (api.find_callers(index, f"src.lists.{name}.run", direction="incoming").completeness for name in ("One", "Other"))
    assert [reason.code for reason in one.reasons] == []
    assert "union" in [reason.code for reason in other.reasons]
    left = api.find_callers(index, "src.lists.Left.go", direction="incoming").completeness
    assert "union" in [reason.code for reason in left.reasons]


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("src.entity.Entity.created", "src/entity.ts:10"),
        ("demo.Row.lastName", "src/main/java/demo/Row.java:19"),
        ("demo.Row.title", "src/main/java/demo/Row.java:14"),
    ],
)
def test_a_field_that_a_library_keeps_may_be_named_in_texts(index: Index, name: str, place: str) -> None:
    [reason] = api.find_references(index, name).completeness.reasons
    assert reason.code == "string_member"
    assert f"texts may name it to the library that keeps it: {place}; look there" in reason.detail


@pytest.mark.parametrize("name", ["src.entity.Entity.unnamed", "src.entity.Entity.plain", "demo.Row.plain"])
def test_a_field_that_none_keeps_or_no_text_names_is_complete(index: Index, name: str) -> None:
    assert api.find_references(index, name).completeness.status == "complete"


def test_a_decorator_of_a_parameter_is_not_of_the_type_below(index: Index) -> None:
    assert "registered by 'Module' at src/cats.ts:28" in _reasons(index, "src.cats.Application")["registered"]
