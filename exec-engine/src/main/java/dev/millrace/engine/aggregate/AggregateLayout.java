package dev.millrace.engine.aggregate;

import static dev.millrace.plan.node.AggregateState.NONE;

import dev.millrace.engine.aggregate.number.Extremes;
import dev.millrace.engine.state.GroupTable;
import dev.millrace.engine.state.KeyLayout;
import dev.millrace.engine.state.MarkedSets;
import dev.millrace.engine.state.RowTable;
import dev.millrace.engine.state.SlotKind;
import dev.millrace.memory.Memory;
import dev.millrace.plan.expression.AggregateCall;
import dev.millrace.plan.expression.AggregateCall.Function;
import dev.millrace.plan.node.AggregateState;
import dev.millrace.plan.node.DistinctArgument;
import dev.millrace.type.DataType;
import dev.millrace.type.Schema;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What an entry of a group holds and where.
 *
 * <pre>
 *   hash | link | keys (KeyLayout) | states (AggregateState) | collections: a list or number each, what was last emitted
 *        | distinct sets, a header each if their values are marked | what was said of a group that fails | the owner's words
 * </pre>
 *
 * The states are what is copied when a group changes for the first time in an epoch. DISTINCT arguments have tables of
 * their own, {@link DistinctValues}, whose new and vanished values feed states of the group.
 */
public final class AggregateLayout {
    /** A state of the entry. */
    public record StateSlot(AggregateState state, DataType argumentType, int offset) {
        int words() {
            return switch (state.kind()) {
                case COUNT, TRUES, SUM_LONG -> 1;
                case SUM_WIDE, SUM_DOUBLE, SQUARES_DOUBLE -> 2;
                case SUM_CARRIED -> 3;
                case SUM_DOUBLE_RETRACTABLE, SQUARES_WIDE -> 5;
                case SUM_INTERVAL -> 4;
                case SUM_BIGNUM, SQUARES_BIGNUM -> SlotKind.BYTES.bytes() / 8;
                case MIN, MAX -> SlotKind.of(argumentType).bytes() / 8;
            };
        }

        boolean isBytes() {
            return switch (state.kind()) {
                case SUM_BIGNUM, SQUARES_BIGNUM -> true;
                case MIN, MAX -> SlotKind.of(argumentType) == SlotKind.BYTES;
                default -> false;
            };
        }

        public boolean isExtreme() {
            return state.kind() == AggregateState.Kind.MIN || state.kind() == AggregateState.Kind.MAX;
        }

        /** What the state is before any row. */
        public long[] initial() {
            long[] words = new long[words()];
            if (isBytes()) {
                return Extremes.NO_BYTES.clone();
            }
            if (isExtreme()) {
                boolean min = state.kind() == AggregateState.Kind.MIN;
                switch (SlotKind.of(argumentType)) {
                    case WORD -> words[0] = min ? Long.MAX_VALUE : Long.MIN_VALUE;
                    case BYTES -> throw new IllegalStateException(this + " is of bytes");
                    case WIDE -> {
                        words = switch (argumentType.kind()) {
                            case INTERVAL -> Extremes.NO_INTERVAL.clone();
                            case UUID -> min ? new long[] {-1, -1} : new long[] {0, 0};
                            default -> min ? new long[] {-1, Long.MAX_VALUE} : new long[] {0, Long.MIN_VALUE};
                        };
                    }
                }
            }
            return words;
        }
    }

    /**
     * The distinct values of a column per group: {@link CountedValues} or {@link MarkedValues}.
     *
     * @param filters the filters under which the column is counted, as {@link DistinctArgument} has them
     * @param counts whether values may be taken back
     * @param headerOffset if not, of the header of a group's set in its entry
     */
    public record DistinctSet(int argument, DataType type, List<Integer> filters, boolean counts, int headerOffset) {
        static final int VALUE = GroupTable.BODY;

        /** Whether the slot of a value is followed by a word with the scale that it shows, which equal ones differ by. */
        boolean hasScale() {
            return type.kind() == DataType.Kind.BIGNUM;
        }

        int scaleOffset() {
            return VALUE + SlotKind.BYTES.bytes();
        }

        int valueBytes() {
            return SlotKind.of(type).bytes() + (hasScale() ? Long.BYTES : 0);
        }

        /** Of what follows the value: its group, if it counts. */
        int ownerOffset() {
            return VALUE + valueBytes();
        }

        int countOffset(int filter) {
            return ownerOffset() + 8 + 8 * filter;
        }

        /** Empties the set of a group whose words were restored; its values come after. */
        void forgetHeader(long group) {
            if (!counts) {
                Memory.fill(group + headerOffset, MarkedSets.HEADER_BYTES, (byte) 0);
            }
        }

        public long[] initial() {
            return new long[valueBytes() / 8 + (counts ? 1 + filters.size() : 0)];
        }
    }

    /**
     * A call that keeps its values.
     *
     * @param offset of a list of a {@link RowTable} of its own and a word more, or of the number of a sketch
     * @param emitted offset of a slot with the value last emitted, if changes are
     */
    record Collected(int call, int offset, OptionalInt emitted) {}

    private final Schema arguments;
    private final KeyLayout keys;
    private final List<AggregateCall> calls;
    private final boolean retractions;
    private final List<StateSlot> states = new ArrayList<>();
    private final List<DistinctSet> distinctSets = new ArrayList<>();
    private final List<Collected> collections = new ArrayList<>();
    private final int stateOffset;
    private final int stateEnd;
    private final int failureOffset;
    private final int extraOffset;
    private final int end;

    /**
     * @param arguments the rows that {@code calls} refer to
     * @param retractions whether weights may be negative
     * @param emitsChanges whether to remember what was last emitted
     */
    public AggregateLayout(
            KeyLayout keys, List<AggregateCall> calls, Schema arguments, boolean retractions, boolean emitsChanges) {
        this(keys, calls, arguments, retractions, emitsChanges, 0);
    }

    /** A layout with words at the end of an entry that are the owner's; 0 at first. */
    public AggregateLayout(
            KeyLayout keys,
            List<AggregateCall> calls,
            Schema arguments,
            boolean retractions,
            boolean emitsChanges,
            int extraWords) {
        this.arguments = arguments;
        this.keys = keys;
        this.retractions = retractions;
        this.calls = calls.stream().map(call -> countExactly(call, retractions)).toList();
        this.stateOffset = keys.end();
        int at = stateOffset;
        for (AggregateState state : AggregateState.of(this.calls, arguments, retractions)) {
            DataType type = state.argument() == NONE ? DataType.BIGINT : arguments.type(state.argument());
            StateSlot slot = new StateSlot(state, type, at);
            states.add(slot);
            at += 8 * slot.words();
        }
        this.stateEnd = at;
        for (int call = 0; call < this.calls.size(); call++) {
            if (!AggregateState.suffices(this.calls.get(call), retractions)) {
                int emitted = at + RowTable.LIST_BYTES + 8;
                collections.add(new Collected(call, at, emitsChanges ? OptionalInt.of(emitted) : OptionalInt.empty()));
                at = emitted + (emitsChanges ? SlotKind.BYTES.bytes() : 0);
            }
        }
        for (DistinctArgument distinct :
                DistinctArgument.of(states.stream().map(StateSlot::state).toList())) {
            DataType type = arguments.type(distinct.argument());
            distinctSets.add(
                    new DistinctSet(distinct.argument(), type, distinct.filters(), retractions, retractions ? 0 : at));
            at += retractions ? 0 : MarkedSets.HEADER_BYTES;
        }
        this.failureOffset = at;
        at += emitsChanges && !collections.isEmpty() ? 8 : 0; // other failures are computed again
        this.extraOffset = at;
        this.end = at + 8 * extraWords;
    }

    /** A sketch cannot forget; over retractions the count is exact instead. */
    private static AggregateCall countExactly(AggregateCall call, boolean retractions) {
        return retractions && call.function() == Function.APPROX_COUNT_DISTINCT
                ? new AggregateCall(
                        Function.COUNT, call.arguments(), true, call.filter(), List.of(), List.of(), call.type())
                : call;
    }

    Schema arguments() {
        return arguments;
    }

    public KeyLayout keys() {
        return keys;
    }

    public List<AggregateCall> calls() {
        return calls;
    }

    public boolean retractions() {
        return retractions;
    }

    public List<StateSlot> states() {
        return states;
    }

    public List<DistinctSet> distinctSets() {
        return distinctSets;
    }

    /** Whether a word of an entry is of a distinct set's header. */
    boolean isOfDistinct(long offset) {
        return !retractions
                && distinctSets.stream()
                        .anyMatch(set ->
                                offset >= set.headerOffset() && offset < set.headerOffset() + MarkedSets.HEADER_BYTES);
    }

    List<Collected> collections() {
        return collections;
    }

    int stateOffset() {
        return stateOffset;
    }

    int stateEnd() {
        return stateEnd;
    }

    /** Where the word is that leads to what was said of a group that fails, if changes are emitted and values collected. */
    int failureOffset() {
        return failureOffset;
    }

    /** Where the owner's words are. */
    public int extraOffset() {
        return extraOffset;
    }

    /** Offset of the number of rows. */
    int rowsOffset() {
        return stateOffset;
    }

    StateSlot slot(AggregateState state) {
        return states.stream()
                .filter(slot -> slot.state().equals(state))
                .findFirst()
                .orElseThrow();
    }

    Optional<Collected> collected(int call) {
        return collections.stream()
                .filter(collected -> collected.call() == call)
                .findFirst();
    }

    /** How many columns carry the states between phases, distinct ones left out. */
    int stateColumns() {
        return states.stream()
                .filter(slot -> !slot.state().distinct())
                .mapToInt(slot -> StateCode.columns(slot.state().kind()))
                .sum();
    }

    /** The words of a new entry's body. */
    public long[] initial() {
        long[] words = new long[(end - GroupTable.BODY) / 8];
        for (StateSlot slot : states) {
            long[] initial = slot.initial();
            System.arraycopy(initial, 0, words, (slot.offset() - GroupTable.BODY) / 8, initial.length);
        }
        return words;
    }

    @Override
    public String toString() {
        return states + " " + distinctSets + " " + collections + " " + Arrays.toString(initial());
    }
}
