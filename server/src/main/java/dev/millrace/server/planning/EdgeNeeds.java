package dev.millrace.server.planning;

import dev.millrace.connector.Options;
import dev.millrace.edge.program.RowProgram;
import dev.millrace.edge.program.Term;
import dev.millrace.edge.program.Term.Operator;
import dev.millrace.error.MillraceException;
import dev.millrace.error.SqlState;
import dev.millrace.plan.expression.Expression;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.planner.tree.Expressions;
import dev.millrace.server.catalog.CatalogObject;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * What a standing query with {@code run_at = 'edge'} needs of devices: of each of their streams the columns that its plan reads, and the conditions directly over
 * it. The plan stays as it is, and asks what comes the same again.
 *
 * <pre>
 *   Calc (condition, columns) over Watermark over Scan (stream of devices)
 *         |                                        |
 *         what of it a device can compute          what of it devices have  -&gt; RowProgram
 * </pre>
 */
public final class EdgeNeeds {
    /** The option of a query. */
    public static final String OPTION = "run_at";

    private static final String EDGE = "edge";
    private static final String SERVER = "server";
    private static final String CONNECTOR = "edge";
    private static final String ERROR_OF = "include.error.";

    private final Function<String, Optional<CatalogObject>> objects;
    private final Map<String, RowProgram> programs = new TreeMap<>();
    private final List<String> left = new ArrayList<>(); // what no device can compute
    private final Set<String> whole = new TreeSet<>(); // streams all of which is needed
    private final Set<PlanNode> seen = Collections.newSetFromMap(new IdentityHashMap<>());

    private EdgeNeeds(Function<String, Optional<CatalogObject>> objects) {
        this.objects = objects;
    }

    /**
     * Whether a query is to run at the edge as far as it can.
     *
     * @throws MillraceException 22023 if the option has no such value
     */
    public static boolean isWanted(Options options) {
        String where = options.text(OPTION).orElse(SERVER).trim().toLowerCase(Locale.ROOT);
        if (!where.equals(EDGE) && !where.equals(SERVER)) {
            throw Options.invalid(OPTION, where, EDGE + " or " + SERVER);
        }
        return where.equals(EDGE);
    }

    /**
     * Finds out what a plan needs.
     *
     * @param objects what a scan reads
     */
    public static EdgeNeeds of(PlanNode plan, Function<String, Optional<CatalogObject>> objects) {
        EdgeNeeds needs = new EdgeNeeds(objects);
        needs.visit(plan);
        return needs;
    }

    /** By streams; of one that is read in several places what any of them needs. */
    public Map<String, RowProgram> programs() {
        return programs;
    }

    /** @throws MillraceException 0A000 if there is nothing that devices could do for the query */
    public EdgeNeeds require() {
        if (programs.isEmpty()) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "nothing of this query can run at the edge: it reads no stream of connector edge")
                    .withHint("leave run_at out");
        }
        if (whole.containsAll(programs.keySet())) {
            throw MillraceException.user(
                            SqlState.FEATURE_NOT_SUPPORTED,
                            "nothing of this query can run at the edge: it needs all rows and columns of "
                                    + String.join(", ", whole)
                                    + (left.isEmpty()
                                            ? ", which no condition is directly over"
                                            : ", as no device computes " + String.join(", ", left)))
                    .withHint("docs/edge.md says which conditions devices know");
        }
        return this;
    }

    /**
     * What runs where, for people.
     *
     * @param rest what the server does
     */
    public List<String> describe(String rest) {
        List<String> lines = new ArrayList<>();
        programs.forEach((stream, program) -> lines.add("at the edge, of each row of " + stream + ": "
                + program.condition()
                        .map(condition -> "whether " + EdgeTerms.text(condition) + "; ")
                        .orElse("")
                + "columns " + String.join(", ", program.columns())));
        lines.add("at the server: " + rest + ", over the rows that come"
                + (left.isEmpty() ? "" : "; not at the edge: " + String.join(", ", left)));
        return lines;
    }

    private void visit(PlanNode node) {
        if (!seen.add(node)) {
            return;
        }
        if (node instanceof PlanNode.Calc calc && below(calc.input()) instanceof PlanNode.Scan scan) {
            scan(scan, calc.condition());
        } else if (node instanceof PlanNode.Scan scan) {
            scan(scan, Optional.empty());
        } else {
            node.inputs().forEach(this::visit);
        }
    }

    /** Whether devices send an object's rows, and not the server makes them of what they send. */
    static boolean isOfDevices(CatalogObject object) {
        return object.input()
                        .filter(input -> input.connector().equals(CONNECTOR))
                        .isPresent()
                && !WindowsAtEdge.isStreamOfPartials(object);
    }

    /** What passes rows on as they are does not matter: who drops late ones drops them after the others. */
    private static PlanNode below(PlanNode node) {
        PlanNode at = node;
        while (at instanceof PlanNode.Watermark || at instanceof PlanNode.Exchange) {
            at = at.inputs().get(0);
        }
        return at;
    }

    private void scan(PlanNode.Scan scan, Optional<Expression> condition) {
        Optional<CatalogObject> stream = objects.apply(scan.relation()).filter(EdgeNeeds::isOfDevices);
        if (stream.isEmpty()) {
            return;
        }
        Set<String> all = columnsOfDevices(stream.get());
        Map<String, String> subjects = errorColumns(stream.get());
        Set<String> read = new TreeSet<>();
        for (int column : scan.columns()) {
            Optional<String> field = name(stream.get(), column);
            if (field.isEmpty() || stream.get().rules().isGenerated(field.get())) {
                read.addAll(all); // it may be computed of any
            } else if (all.contains(field.get())) {
                read.add(field.get());
            }
            field.flatMap(name -> Optional.ofNullable(subjects.get(name)))
                    .filter(all::contains)
                    .ifPresent(read::add);
        }
        List<Term> conjuncts = new ArrayList<>();
        for (Expression conjunct : Expressions.conjuncts(condition)) {
            EdgeTerms.of(
                            conjunct,
                            place -> name(stream.get(), scan.columns().get(place))
                                    .filter(all::contains))
                    .ifPresentOrElse(conjuncts::add, () -> left.add(conjunct.toString()));
        }
        RowProgram program = fitting(List.copyOf(read), conjuncts);
        String name = stream.get().name();
        if (program.condition().isEmpty() && read.equals(all)) {
            whole.add(name);
        }
        programs.merge(name, program, EdgeNeeds::either);
    }

    private static Optional<String> name(CatalogObject stream, int column) {
        return column < stream.schema().size()
                ? Optional.of(stream.schema().field(column).name())
                : Optional.empty();
    }

    /** Without those that the server makes. */
    static Set<String> columnsOfDevices(CatalogObject stream) {
        Set<String> names = new TreeSet<>(stream.schema().names());
        names.removeIf(stream.rules()::isGenerated);
        Optional.ofNullable(stream.options().get("include.device")).ifPresent(names::remove);
        names.removeAll(errorColumns(stream).keySet());
        return names;
    }

    /** Columns that say how far the values of others may be off, with these: the server finds that out of what comes. */
    private static Map<String, String> errorColumns(CatalogObject stream) {
        Map<String, String> subjects = new TreeMap<>();
        stream.options().forEach((option, column) -> {
            if (option.startsWith(ERROR_OF)) {
                subjects.put(column, option.substring(ERROR_OF.length()));
            }
        });
        return subjects;
    }

    /** As many of the conditions as a program may have. */
    private RowProgram fitting(List<String> columns, List<Term> conjuncts) {
        for (int count = conjuncts.size(); ; count--) {
            Optional<Term> condition = count == 0
                    ? Optional.empty()
                    : Optional.of(
                            count == 1 ? conjuncts.get(0) : new Term.Call(Operator.AND, conjuncts.subList(0, count)));
            RowProgram program = new RowProgram(columns, condition);
            try {
                program.text();
                return program;
            } catch (MillraceException e) {
                if (count == 0) {
                    throw e;
                }
                left.add(EdgeTerms.text(conjuncts.get(count - 1))); // it is too long
            }
        }
    }

    private static RowProgram either(RowProgram one, RowProgram other) {
        Set<String> columns = new TreeSet<>(one.columns());
        columns.addAll(other.columns());
        Optional<Term> condition = one.condition()
                .flatMap(first -> other.condition()
                        .map(second ->
                                first.equals(second) ? first : new Term.Call(Operator.OR, List.of(first, second))));
        RowProgram both = new RowProgram(List.copyOf(columns), condition);
        try {
            both.text();
            return both;
        } catch (MillraceException e) { // it is too long: all rows are needed then
            return new RowProgram(List.copyOf(columns), Optional.empty());
        }
    }
}
