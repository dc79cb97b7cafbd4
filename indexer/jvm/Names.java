import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompoundAssignmentTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.EnhancedForLoopTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.NewClassTree;
import com.sun.source.tree.ParameterizedTypeTree;
import com.sun.source.tree.AnnotatedTypeTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.TryTree;
import com.sun.source.tree.TypeParameterTree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TaskEvent;
import com.sun.source.util.TaskListener;
import com.sun.source.util.TreePath;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import javax.lang.model.element.Element;
import javax.lang.model.element.ElementKind;
import javax.lang.model.element.ExecutableElement;
import javax.lang.model.element.Modifier;
import javax.lang.model.element.ModuleElement;
import javax.lang.model.element.PackageElement;
import javax.lang.model.element.TypeElement;
import javax.lang.model.element.TypeParameterElement;
import javax.lang.model.element.VariableElement;
import javax.lang.model.type.DeclaredType;
import javax.lang.model.type.IntersectionType;
import javax.lang.model.type.TypeKind;
import javax.lang.model.type.TypeMirror;
import javax.lang.model.type.TypeVariable;
import javax.lang.model.type.WildcardType;
import javax.lang.model.util.Elements;
import javax.lang.model.util.Types;
import javax.tools.DiagnosticListener;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Writes what each name in sources of Java means, as the JDK's compiler understands it; `indexer/jvm/written.py` reads it.
 *
 * <p>Words: the file to write, a file with one source in each line, then switches for the compiler. Only the compiler's public interface
 * is used. Annotation processors are off, nothing is generated, and errors stop nothing: a name that has no meaning has no line.
 *
 * <p>Lines, in fields between tabs: `F path sha256` begins a file, `.` ends it, `N line col length symbol` is a name that stands there, `D`
 * the same where the symbol is defined, `S symbol parent` says what a type is derived from, `O symbol member` which member
 * it overrides or implements, of a type outside by one of its own or by one that it gets from above, of an interface of a source by one that
 * it gets from a class which does not implement that interface, `H symbol text` how it is declared.
 */
final class Names implements TaskListener {
  private static final Set<String> RUN_BY_SIGNS = Set.of("toString", "iterator", "hasNext", "next", "close");

  private final BufferedWriter out;
  private final Set<CompilationUnitTree> entered = new LinkedHashSet<>();
  private final Map<String, List<ExecutableElement>> runBySigns = new HashMap<>();
  private boolean isEntered;
  private final Trees trees;
  private final Elements elements;
  private final Types types;
  private final Map<CompilationUnitTree, Set<Tree>> waiting = new IdentityHashMap<>();
  private final Map<TypeElement, Set<TypeElement>> lineages = new HashMap<>();

  private Names(JavacTask task, BufferedWriter out) {
    this.out = out;
    trees = Trees.instance(task);
    elements = task.getElements();
    types = task.getTypes();
  }

  public static void main(String[] words) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    if (compiler == null) {
      System.err.println("there is no compiler: it is no JDK");
      System.exit(1);
    }
    List<File> files = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(words[1]), StandardCharsets.UTF_8)) {
      files.add(new File(line));
    }
    List<String> switches = new ArrayList<>(List.of(words).subList(2, words.length));
    switches.addAll(List.of("-proc:none", "-implicit:none", "-nowarn", "-encoding", "UTF-8", "-Xmaxerrs", "1000000"));
    switches.addAll(List.of("-XDshould-stop.ifError=FLOW", "-XDshould-stop.ifNoError=FLOW"));
    DiagnosticListener<JavaFileObject> nobody = diagnostic -> {};
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(nobody, Locale.ROOT, StandardCharsets.UTF_8);
        BufferedWriter out = Files.newBufferedWriter(Path.of(words[0]), StandardCharsets.UTF_8)) {
      JavacTask task = (JavacTask) compiler.getTask(null, manager, nobody, switches, null, manager.getJavaFileObjectsFromFiles(files));
      task.setTaskListener(new Names(task, out));
      task.call();
    }
  }

  @Override
  public void started(TaskEvent event) {
    if (event.getKind() == TaskEvent.Kind.ANALYZE && !isEntered) {
      isEntered = true;
      for (CompilationUnitTree unit : entered) {
        for (Tree tree : unit.getTypeDecls()) {
          Element found = tree instanceof ClassTree ? trees.getElement(TreePath.getPath(unit, tree)) : null;
          if (found instanceof TypeElement) {
            note((TypeElement) found);
          }
        }
      }
      entered.clear();
    }
  }

  /** Notes which types of sources have a member that signs run. */
  private void note(TypeElement type) {
    for (Element member : type.getEnclosedElements()) {
      if (member instanceof TypeElement) {
        note((TypeElement) member);
      } else if (member.getKind() == ElementKind.METHOD && RUN_BY_SIGNS.contains(member.getSimpleName().toString())) {
        if (((ExecutableElement) member).getParameters().isEmpty() && trees.getTree(member) != null) {
          runBySigns.computeIfAbsent(member.getSimpleName().toString(), key -> new ArrayList<>()).add((ExecutableElement) member);
        }
      }
    }
  }

  @Override
  public void finished(TaskEvent event) {
    CompilationUnitTree unit = event.getCompilationUnit();
    if (event.getKind() == TaskEvent.Kind.ENTER && unit != null) {
      entered.add(unit);
    }
    if (event.getKind() != TaskEvent.Kind.ANALYZE || unit == null || event.getTypeElement() == null) {
      return;
    }
    Set<Tree> left = waiting.computeIfAbsent(unit, key -> new HashSet<>(key.getTypeDecls()));
    left.removeIf(tree -> !(tree instanceof ClassTree) || tree == trees.getTree(event.getTypeElement()));
    if (left.isEmpty()) {
      waiting.remove(unit);
      try {
        write(unit);
        System.out.write('.'); // whoever has started this counts
        System.out.flush();
      } catch (IOException error) {
        throw new UncheckedIOException(error);
      }
    }
  }

  private void write(CompilationUnitTree unit) throws IOException {
    String text = unit.getSourceFile().getCharContent(true).toString();
    StringBuilder lines = new StringBuilder();
    new Scanner(unit, text, lines).scan(unit, null);
    out.write("F\t" + new File(unit.getSourceFile().toUri()).getPath() + "\t" + digest(text) + "\n");
    out.append(lines).append(".\n");
  }

  private static String digest(String text) {
    try {
      StringBuilder hex = new StringBuilder();
      for (byte one : MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8))) {
        hex.append(String.format("%02x", one));
      }
      return hex.toString();
    } catch (NoSuchAlgorithmException error) {
      throw new IllegalStateException(error);
    }
  }

  private static boolean isType(Element element) {
    return element instanceof TypeElement;
  }

  /** Whether it is declared in a source that the compiler has read. */
  private boolean isOfSource(Element element) {
    Element outer = element;
    while (outer != null && !(outer.getEnclosingElement() instanceof PackageElement)) {
      outer = outer.getEnclosingElement();
    }
    return outer != null && trees.getPath(outer) != null;
  }

  /** What stands for an element in a line; `locals` numbers those that have no name outside of their file. Null: it has no meaning. */
  private String symbol(Element element, Map<Element, Integer> locals) {
    if (element instanceof PackageElement) {
      String name = ((PackageElement) element).getQualifiedName().toString();
      return name.isEmpty() ? "" : name.replace('.', '/') + "/";
    }
    if (element instanceof ModuleElement || isUnknown(element)) {
      return null;
    }
    Element around = element.getEnclosingElement();
    if (around instanceof TypeElement && around.getEnclosingElement().asType().getKind() == TypeKind.NONE) { // members of arrays
      return "java/lang/Array#" + element.getSimpleName() + (element instanceof ExecutableElement ? "()." : ".");
    }
    boolean isMember = around instanceof TypeElement && !element.getKind().name().endsWith("PARAMETER");
    boolean isTop = around instanceof PackageElement;
    String before = isTop || isMember ? symbol(around, locals) : null;
    if (before == null || before.startsWith("local ") || element.getSimpleName().length() == 0) {
      return isTop || around == null ? null : "local " + locals.computeIfAbsent(element, key -> locals.size());
    }
    String name = element.getSimpleName().toString();
    String shown = name.matches("[A-Za-z0-9_$]+") ? name : "`" + name + "`";
    if (isType(element)) {
      return before + shown + "#";
    }
    return element instanceof ExecutableElement ? before + shown + "(" + overload(element, around) + ")." : before + shown + ".";
  }

  /** Whether it stands for a type that is not there; OTHER is the kind of what the compiler calls `<any?>`, an argument of such a type. */
  private static boolean isUnknown(Element element) {
    TypeKind kind = isType(element) ? element.asType().getKind() : TypeKind.NONE;
    return kind == TypeKind.ERROR || kind == TypeKind.OTHER;
  }

  private static String overload(Element element, Element around) {
    int number = 0;
    for (Element other : around.getEnclosedElements()) {
      if (other == element) {
        break;
      }
      number += other instanceof ExecutableElement && other.getSimpleName().equals(element.getSimpleName()) ? 1 : 0;
    }
    return number == 0 ? "" : "+" + number;
  }

  /** What a member stands for that the compiler has made itself: of a record's component, of a class without a constructor. */
  private Element source(Element element) {
    Element around = element.getEnclosingElement();
    if (!(element instanceof ExecutableElement) || !(around instanceof TypeElement) || !isOfSource(element)) {
      return element;
    }
    boolean isMade = elements.getOrigin(element) == Elements.Origin.MANDATED || trees.getTree(element) == null;
    if (element.getKind() == ElementKind.CONSTRUCTOR) {
      return isMade || isAtClass(element, around) ? around : element;
    }
    if (isMade && around.getKind() == ElementKind.ENUM) {
      TypeElement ofAll = elements.getTypeElement("java.lang.Enum");
      for (Element other : ofAll == null ? List.<Element>of() : ofAll.getEnclosedElements()) {
        if (other.getSimpleName().contentEquals("valueOf")) {
          return other;
        }
      }
    }
    if (isMade || isAtClass(element, around)) {
      for (Element other : around.getEnclosedElements()) {
        if (other.getKind() == ElementKind.FIELD && other.getSimpleName().equals(element.getSimpleName())) {
          return other;
        }
      }
    }
    return element;
  }

  private boolean isAtClass(Element element, Element around) {
    TreePath path = trees.getPath(element);
    TreePath outer = trees.getPath(around);
    if (path == null || outer == null) {
      return true;
    }
    SourcePositions places = trees.getSourcePositions();
    long end = places.getEndPosition(path.getCompilationUnit(), path.getLeaf());
    return end < 0 || end <= places.getStartPosition(path.getCompilationUnit(), path.getLeaf());
  }

  private final class Scanner extends TreePathScanner<Void, Void> {
    private final CompilationUnitTree unit;
    private final String text;
    private final StringBuilder lines;
    private final SourcePositions places = trees.getSourcePositions();
    private final Map<Element, Integer> locals = new HashMap<>();
    private final List<Integer> starts = new ArrayList<>(List.of(0));

    Scanner(CompilationUnitTree unit, String text, StringBuilder lines) {
      this.unit = unit;
      this.text = text;
      this.lines = lines;
      for (int at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
        starts.add(at + 1);
      }
    }

    /** What of one name fails (a class that a class file needs is not there) costs that name, and not what is beside it. */
    @Override
    public Void scan(Tree tree, Void nothing) {
      try {
        return super.scan(tree, nothing);
      } catch (RuntimeException error) {
        return null;
      }
    }

    private long start(Tree tree) {
      return tree == null ? -1 : places.getStartPosition(unit, tree);
    }

    private long end(Tree tree) {
      return tree == null ? -1 : places.getEndPosition(unit, tree);
    }

    private void say(char what, long at, String name, Element meant) {
      if (meant == null || at < 0 || !text.startsWith(name, (int) at)) {
        return;
      }
      String symbol = symbol(meant, locals);
      if (symbol == null || symbol.isEmpty()) {
        return;
      }
      if (name.equals("values")) { // of an enum; no library has it
        symbol = symbol.replace("java/lang/Enum#valueOf().", "java/lang/Enum#values().");
      }
      int line = java.util.Collections.binarySearch(starts, (int) at);
      line = line < 0 ? -line - 2 : line;
      boolean isOutside = !symbol.startsWith("local ") && !(meant instanceof PackageElement) && !isOfSource(meant);
      lines.append(what).append('\t').append(line).append('\t').append(at - starts.get(line)).append('\t').append(name.length());
      lines.append('\t').append(isOutside || meant instanceof PackageElement ? home(meant) : "").append(symbol).append('\n');
    }

    /** Before the symbol of what lies outside: `jdk`, or `lib` for what the class path has. */
    private String home(Element element) {
      ModuleElement module = elements.getModuleOf(element);
      return module == null || module.isUnnamed() ? "lib:" : "jdk:";
    }

    /** The first word of this name behind a place, comments left out; -1 where there is none. */
    private long word(long from, String name) {
      for (int at = (int) Math.max(from, 0); at < text.length(); at++) {
        if (text.startsWith("//", at)) {
          at = text.indexOf('\n', at);
        } else if (text.startsWith("/*", at)) {
          at = text.indexOf("*/", at + 2) + 1;
        } else if (Character.isJavaIdentifierStart(text.charAt(at))) {
          int end = at;
          while (end < text.length() && Character.isJavaIdentifierPart(text.charAt(end))) {
            end++;
          }
          if (text.substring(at, end).equals(name)) {
            return at;
          }
          at = end - 1;
        }
        if (at <= 0 && !text.isEmpty() && from > 0) {
          return -1;
        }
      }
      return -1;
    }

    /** The first place of a sign behind a place, comments left out; -1 where another word comes first. */
    private long sign(long from, String sign) {
      for (int at = (int) Math.max(from, 0); at < text.length() && from >= 0; at++) {
        if (text.startsWith("//", at)) {
          at = text.indexOf('\n', at);
        } else if (text.startsWith("/*", at)) {
          at = text.indexOf("*/", at + 2) + 1;
        } else if (text.startsWith(sign, at)) {
          return at;
        } else if (!Character.isWhitespace(text.charAt(at)) && text.charAt(at) != ')') {
          return -1;
        }
        if (at <= 0) {
          return -1;
        }
      }
      return -1;
    }

    /** That a sign, or a word of the language, runs a member without parameters of a value of a type of a source; gives the member. */
    private ExecutableElement sayRun(long at, String sign, TypeMirror type, String member) {
      TypeElement holder = ofSource(type);
      if (holder == null || at < 0) {
        return null;
      }
      ExecutableElement found = null;
      for (Element one : elements.getAllMembers(holder)) {
        boolean isIt = one.getKind() == ElementKind.METHOD && one.getSimpleName().contentEquals(member);
        if (isIt && ((ExecutableElement) one).getParameters().isEmpty()) {
          found = (ExecutableElement) one;
        }
      }
      boolean isMade = found != null && isOfSource(found) && source(found) != found;
      boolean isClosed = holder.getModifiers().contains(Modifier.FINAL) || holder.getKind() == ElementKind.ENUM;
      if (found == null || isMade || (isClosed && !isOfSource(found))) {
        return found;
      }
      if (isOfSource(found)) { // what overrides it is known by that
        say('N', at, sign, found);
        return found;
      }
      for (ExecutableElement one : runBySigns.getOrDefault(member, List.of())) {
        if (types.isSubtype(types.erasure(one.getEnclosingElement().asType()), types.erasure(holder.asType()))) {
          say('N', at, sign, one);
        }
      }
      return found;
    }

    /** The type of a source that values of a type are of; null where there is none such. */
    private TypeElement ofSource(TypeMirror type) {
      for (int step = 0; type != null && step < 8; step++) {
        if (type instanceof TypeVariable) {
          type = ((TypeVariable) type).getUpperBound();
        } else if (type instanceof WildcardType) {
          type = ((WildcardType) type).getExtendsBound();
        } else if (type instanceof IntersectionType) {
          for (TypeMirror bound : ((IntersectionType) type).getBounds()) {
            TypeElement found = ofSource(bound);
            if (found != null) {
              return found;
            }
          }
          return null;
        } else {
          break;
        }
      }
      Element element = type == null || type.getKind() != TypeKind.DECLARED ? null : types.asElement(type);
      return element instanceof TypeElement && isOfSource(element) ? (TypeElement) element : null;
    }

    private TypeMirror typeOf(Tree tree) {
      return tree == null ? null : trees.getTypeMirror(new TreePath(getCurrentPath(), tree));
    }

    private boolean isText(TypeMirror type) {
      Element element = type == null || type.getKind() != TypeKind.DECLARED ? null : types.asElement(type);
      return element instanceof TypeElement && ((TypeElement) element).getQualifiedName().contentEquals("java.lang.String");
    }

    @Override
    public Void visitBinary(BinaryTree tree, Void nothing) {
      if (tree.getKind() == Tree.Kind.PLUS && isText(trees.getTypeMirror(getCurrentPath()))) {
        long at = sign(end(tree.getLeftOperand()), "+");
        sayRun(at, "+", typeOf(tree.getLeftOperand()), "toString");
        sayRun(at, "+", typeOf(tree.getRightOperand()), "toString");
      }
      return super.visitBinary(tree, nothing);
    }

    @Override
    public Void visitCompoundAssignment(CompoundAssignmentTree tree, Void nothing) {
      if (tree.getKind() == Tree.Kind.PLUS_ASSIGNMENT && isText(typeOf(tree.getVariable()))) {
        sayRun(sign(end(tree.getVariable()), "+="), "+=", typeOf(tree.getExpression()), "toString");
      }
      return super.visitCompoundAssignment(tree, nothing);
    }

    @Override
    public Void visitEnhancedForLoop(EnhancedForLoopTree tree, Void nothing) {
      long at = sign(end(tree.getVariable()), ":");
      ExecutableElement iterator = sayRun(at, ":", typeOf(tree.getExpression()), "iterator");
      if (iterator != null) {
        sayRun(at, ":", iterator.getReturnType(), "hasNext");
        sayRun(at, ":", iterator.getReturnType(), "next");
      }
      return super.visitEnhancedForLoop(tree, nothing);
    }

    @Override
    public Void visitTry(TryTree tree, Void nothing) {
      for (Tree resource : tree.getResources()) {
        sayRun(sign(start(tree) + "try".length(), "("), "(", typeOf(resource), "close");
      }
      return super.visitTry(tree, nothing);
    }

    private Element meant(TreePath path) {
      Element found = trees.getElement(path);
      return found == null || (found instanceof PackageElement && !isThere(path, found)) ? null : source(found);
    }

    /** Whether a package is one, or a part of the name of one: the compiler takes any name for a package until something is wanted of it. */
    private boolean isThere(TreePath path, Element found) {
      if (!(found instanceof PackageElement)) {
        return !isUnknown(found);
      }
      if (!found.getEnclosedElements().isEmpty()) {
        return true;
      }
      TreePath outer = path.getParentPath();
      Element wanted = outer.getLeaf() instanceof MemberSelectTree ? trees.getElement(outer) : null;
      return wanted != null && isThere(outer, wanted);
    }

    @Override
    public Void visitIdentifier(IdentifierTree tree, Void nothing) {
      String name = tree.getName().toString();
      Element meant = meant(getCurrentPath());
      boolean isCall = trees.getElement(getCurrentPath()) instanceof ExecutableElement; // `this(…)`, `super(…)`
      if (isCall || (!name.equals("this") && !name.equals("super"))) {
        say('N', start(tree), name, meant);
      }
      return super.visitIdentifier(tree, nothing);
    }

    @Override
    public Void visitMemberSelect(MemberSelectTree tree, Void nothing) {
      String name = tree.getIdentifier().toString();
      if (!name.equals("this") && !name.equals("super") && !name.equals("class") && !name.equals("*")) {
        say('N', word(end(tree.getExpression()), name), name, meant(getCurrentPath()));
      }
      return super.visitMemberSelect(tree, nothing);
    }

    @Override
    public Void visitMemberReference(MemberReferenceTree tree, Void nothing) {
      String name = tree.getName().toString();
      Element meant = meant(getCurrentPath());
      if (!name.equals("<init>")) {
        say('N', word(end(tree.getQualifierExpression()), name), name, meant);
      } else if (meant != null && meant.getKind() == ElementKind.CONSTRUCTOR) {
        sayMade(tree.getQualifierExpression(), meant);
      }
      return super.visitMemberReference(tree, nothing);
    }

    @Override
    public Void visitImport(ImportTree tree, Void nothing) {
      if (tree.isStatic() && tree.getQualifiedIdentifier() instanceof MemberSelectTree) {
        MemberSelectTree named = (MemberSelectTree) tree.getQualifiedIdentifier();
        String name = named.getIdentifier().toString();
        TreePath path = new TreePath(new TreePath(getCurrentPath(), named), named.getExpression());
        Element owner = trees.getElement(path);
        if (owner instanceof TypeElement && !isUnknown(owner)) {
          for (Element member : elements.getAllMembers((TypeElement) owner)) {
            if (member.getSimpleName().contentEquals(name) && member.getModifiers().contains(Modifier.STATIC)) {
              say('N', word(end(named.getExpression()), name), name, source(member));
            }
          }
        }
        return scan(path, nothing);
      }
      return super.visitImport(tree, nothing);
    }

    /** That a constructor runs where its type is named. */
    private void sayMade(Tree type, Element made) {
      while (type instanceof ParameterizedTypeTree || type instanceof AnnotatedTypeTree) {
        boolean hasArguments = type instanceof ParameterizedTypeTree;
        type = hasArguments ? ((ParameterizedTypeTree) type).getType() : ((AnnotatedTypeTree) type).getUnderlyingType();
      }
      boolean isSelected = type instanceof MemberSelectTree;
      String name = isSelected ? ((MemberSelectTree) type).getIdentifier().toString() : type.toString();
      long at = isSelected ? word(end(((MemberSelectTree) type).getExpression()), name) : start(type);
      if (made.getKind() == ElementKind.CONSTRUCTOR) {
        say('N', at, name, made);
      }
    }

    @Override
    public Void visitNewClass(NewClassTree tree, Void nothing) {
      Element made = trees.getElement(getCurrentPath());
      if (made != null && tree.getClassBody() == null && isOfSource(made)) {
        sayMade(tree.getIdentifier(), source(made));
      }
      return super.visitNewClass(tree, nothing);
    }

    @Override
    public Void visitClass(ClassTree tree, Void nothing) {
      Element element = trees.getElement(getCurrentPath());
      String name = tree.getSimpleName().toString();
      if (element instanceof TypeElement && !name.isEmpty()) {
        say('D', word(Math.max(start(tree), end(tree.getModifiers())), name), name, element);
        String symbol = symbol(element, locals);
        List<TypeMirror> above = new ArrayList<>(((TypeElement) element).getInterfaces());
        above.add(((TypeElement) element).getSuperclass());
        for (TypeMirror type : above) {
          Element parent = type.getKind() == TypeKind.DECLARED ? ((DeclaredType) type).asElement() : null;
          String named = parent == null ? null : symbol(parent, locals);
          if (named != null) {
            lines.append("S\t").append(symbol).append('\t').append(isOfSource(parent) ? "" : home(parent)).append(named).append('\n');
          }
        }
        sayOverridden((TypeElement) element, symbol);
      }
      return super.visitClass(tree, nothing);
    }

    /** Which members a type implements or overrides where names and types above do not show it: of types outside, and by what it inherits. */
    private void sayOverridden(TypeElement type, String symbol) {
      Map<String, List<ExecutableElement>> own = new HashMap<>();
      List<TypeElement> outside = new ArrayList<>();
      for (TypeElement above : lineOf(type)) {
        if (!isOfSource(above)) {
          outside.add(above);
          continue;
        }
        if (above != type && above.getKind().isInterface()) {
          outside.add(above); // for a member that the type gets from a class that knows nothing of the interface
        }
        for (Element member : above.getEnclosedElements()) {
          if (member.getKind() == ElementKind.METHOD && !isFixed(member)) {
            own.computeIfAbsent(member.getSimpleName().toString(), key -> new ArrayList<>()).add((ExecutableElement) member);
          }
        }
      }
      for (TypeElement above : outside) {
        for (Element member : own.isEmpty() ? List.<Element>of() : above.getEnclosedElements()) {
          if (member.getKind() != ElementKind.METHOD || isFixed(member)) {
            continue;
          }
          for (ExecutableElement mine : own.getOrDefault(member.getSimpleName().toString(), List.of())) {
            boolean isSaidAbove = mine.getEnclosingElement() != type && isBelow((TypeElement) mine.getEnclosingElement(), above);
            isSaidAbove |= mine == member || (isOfSource(above) && isBelow((TypeElement) mine.getEnclosingElement(), above));
            String named = symbol(member, locals);
            if (named != null && !isSaidAbove && elements.overrides(mine, (ExecutableElement) member, type)) {
              lines.append("O\t").append(symbol).append('\t').append(isOfSource(member) ? "" : home(member)).append(named).append('\n');
              break;
            }
          }
        }
      }
    }

    private boolean isFixed(Element member) {
      return member.getModifiers().contains(Modifier.STATIC) || member.getModifiers().contains(Modifier.PRIVATE);
    }

    private boolean isBelow(TypeElement type, TypeElement above) {
      return lineOf(type).contains(above);
    }

    /** A type and all above it, but for what every class has. */
    private Set<TypeElement> lineOf(TypeElement type) {
      Set<TypeElement> found = lineages.get(type);
      if (found == null) {
        found = new LinkedHashSet<>(List.of(type));
        lineages.put(type, found);
        List<TypeMirror> direct = new ArrayList<>(type.getInterfaces());
        direct.add(type.getSuperclass());
        for (TypeMirror one : direct) {
          Element parent = one.getKind() == TypeKind.DECLARED ? ((DeclaredType) one).asElement() : null;
          if (parent instanceof TypeElement && !((TypeElement) parent).getQualifiedName().contentEquals("java.lang.Object")) {
            found.addAll(lineOf((TypeElement) parent));
          }
        }
      }
      return found;
    }

    @Override
    public Void visitMethod(MethodTree tree, Void nothing) {
      Element element = trees.getElement(getCurrentPath());
      boolean isConstructor = tree.getName().contentEquals("<init>");
      Element around = element == null ? null : element.getEnclosingElement();
      if (around == null || source(element) != element) {
        return isConstructor ? null : super.visitMethod(tree, nothing);
      }
      String name = isConstructor ? around.getSimpleName().toString() : tree.getName().toString();
      long from = Math.max(start(tree), Math.max(end(tree.getModifiers()), end(tree.getReturnType())));
      for (TypeParameterTree parameter : tree.getTypeParameters()) {
        from = Math.max(from, end(parameter));
      }
      say('D', word(from, name), name, element);
      String symbol = symbol(element, locals);
      if (symbol != null && !symbol.startsWith("local ")) {
        lines.append("H\t").append(symbol).append('\t').append(declared(tree)).append('\n');
      }
      return super.visitMethod(tree, nothing);
    }

    private String declared(MethodTree tree) {
      long end = tree.getBody() == null ? end(tree) : start(tree.getBody());
      long from = Math.max(start(tree), 0);
      return end <= from ? "" : text.substring((int) from, (int) end).replaceAll("\\s+", " ").strip();
    }

    @Override
    public Void visitVariable(VariableTree tree, Void nothing) {
      Element element = trees.getElement(getCurrentPath());
      String name = tree.getName().toString();
      boolean isConstant = element != null && element.getKind() == ElementKind.ENUM_CONSTANT;
      long from = Math.max(start(tree), end(tree.getModifiers()));
      say('D', word(isConstant ? from : Math.max(from, end(tree.getType())), name), name, element);
      long at = start(tree.getType());
      boolean isWritten = at >= start(tree) && at < end(tree) && !text.startsWith("var ", (int) Math.max(at, 0));
      scan(tree.getModifiers(), nothing);
      return scan(tree.getInitializer(), isWritten && !isConstant ? scan(tree.getType(), nothing) : nothing);
    }

    @Override
    public Void visitTypeParameter(TypeParameterTree tree, Void nothing) {
      Element element = trees.getElement(getCurrentPath());
      if (element instanceof TypeParameterElement) {
        String name = tree.getName().toString();
        say('D', word(start(tree), name), name, element);
      }
      return super.visitTypeParameter(tree, nothing);
    }
  }
}
