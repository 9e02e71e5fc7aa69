package dev.millrace.expressions.function.regex;

import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The automata of one expression, made when they are first needed, on one text. Belongs to one thread. */
final class Machines implements PartAutomata.Source {
    private final Regex regex;
    private final Candidates candidates;
    private final Map<RegexPart, PartAutomata> parts = new IdentityHashMap<>();
    private final int[] marks;
    private @Nullable Scanner scanner; // this and what follows null until it is needed
    private @Nullable Dissection dissection;
    private @Nullable Automaton anywhere;
    private @Nullable Automaton leftmost;
    private long address;
    private int length;
    private boolean ready;

    Machines(Regex regex, int[] marks) {
        this.regex = regex;
        this.marks = marks;
        this.candidates = new Candidates(regex.required());
    }

    void reset(long newAddress, int newLength) {
        address = newAddress;
        length = newLength;
        candidates.reset();
        ready = false;
    }

    private Scanner scanner() {
        if (!ready) {
            if (scanner == null) {
                scanner = new Scanner(regex.alphabet(), looks());
            }
            scanner.reset(address, length);
            ready = true;
        }
        return Objects.requireNonNull(scanner);
    }

    private List<Scanner.Look> looks() {
        List<Scanner.Look> looks = new ArrayList<>();
        for (RegexSyntax.Look look : regex.looks()) {
            boolean backwards = !look.behind();
            Program program = regex.program(look.body(), backwards);
            looks.add(new Scanner.Look(look, automaton(program, Automaton.Mode.ANYWHERE, backwards)));
        }
        return looks;
    }

    private Automaton automaton(Program program, Automaton.Mode mode, boolean backwards) {
        return new Automaton(
                program, regex.alphabet(), mode, backwards, regex.looks().size());
    }

    @Override
    public Program program(RegexSyntax syntax, boolean backwards) {
        return syntax == regex.syntax() && !backwards ? regex.program() : regex.program(syntax, backwards);
    }

    @Override
    public Automaton automaton(Program program, boolean backwards) {
        return automaton(program, Automaton.Mode.ANCHORED, backwards);
    }

    private PartAutomata of(RegexPart part) {
        return parts.computeIfAbsent(part, each -> new PartAutomata(each, this));
    }

    private PartAutomata whole() {
        return of(regex.tree());
    }

    /** Where any match that begins at or after a place ends, the first such end; -1 for none. */
    int firstEnd(int from) {
        if (regex.atStart()) {
            return from > 0 || candidates.next(address, length, 0) < 0 ? -1 : shortest(0, 0);
        }
        if (anywhere == null) {
            anywhere = automaton(regex.program(), Automaton.Mode.ANYWHERE, false);
        }
        return scanner().firstEnd(anywhere, from, candidates);
    }

    /** Where the first match that begins at or after a place ends, or -1. */
    int leftmostEnd(int from) {
        boolean shortest = regex.tree().isShortest();
        if (regex.atStart()) {
            if (from > 0 || candidates.next(address, length, 0) < 0) {
                return -1;
            }
            return shortest ? shortest(0, 0) : longest(0, length);
        }
        if (leftmost == null) {
            Automaton.Mode mode = shortest ? Automaton.Mode.LEFTMOST_SHORTEST : Automaton.Mode.LEFTMOST_LONGEST;
            leftmost = automaton(regex.program(), mode, false);
        }
        return scanner().leftmostEnd(leftmost, from, candidates);
    }

    /** Where the first match begins that ends at a place, at or after {@code floor}. */
    int firstStart(int floor, int end) {
        return regex.atStart() ? 0 : scanner().firstStart(whole().backwards(), floor, end);
    }

    /** Where the longest match ends that begins at a place and ends up to another, or -1. */
    int longest(int begin, int limit) {
        return scanner().longest(whole().forwards(), begin, limit);
    }

    /** Where the shortest match ends that begins at a place and ends from another on, or -1. */
    int shortest(int begin, int least) {
        return scanner().shortest(whole().forwards(), begin, least, length);
    }

    /** Sets the marks of the groups of a match; false if it is none for its back references. */
    boolean dissect(int begin, int end) {
        Scanner of = scanner();
        if (dissection == null) {
            dissection = new Dissection(of, this::of, marks, regex.ignoresCase());
        }
        return dissection.dissect(regex.tree(), begin, end);
    }

    int after(int at) {
        return at >= length ? length + 1 : scanner().after(at);
    }

    void limitSteps() {
        scanner().limitSteps();
    }
}
