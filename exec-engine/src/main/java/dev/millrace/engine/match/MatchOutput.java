package dev.millrace.engine.match;

import dev.millrace.engine.calc.CalcOperator;
import dev.millrace.engine.state.RowCodec;
import dev.millrace.operator.OperatorContext;
import dev.millrace.operator.Output;
import dev.millrace.plan.match.MatchSpec;
import dev.millrace.plan.match.MatchSpec.Rows;
import dev.millrace.plan.node.PlanNode;
import dev.millrace.plan.node.PlanNode.Match;
import dev.millrace.type.DataType;
import java.util.List;
import java.util.Optional;

/** Shows matches: takes their values, row by row, and computes the outputs of whole batches of them. */
final class MatchOutput implements AutoCloseable {
    private final Rows shown;
    private final Mapping mapping;
    private final ValueColumns columns;
    private final CalcOperator calc;
    private long number;
    private int next; // of the match being shown
    private int end;

    MatchOutput(Match node, RowCodec codec, List<DataType> types, OperatorContext context) {
        MatchSpec spec = node.spec();
        this.shown = spec.rows();
        this.mapping = new Mapping(spec, node.values(), codec, types);
        this.columns = new ValueColumns(spec, node.values(), mapping, codec, context.batchRows(), context.allocator());
        PlanNode values = new PlanNode.Values(List.of(), columns.schema());
        this.calc = new CalcOperator(new PlanNode.Calc(values, Optional.empty(), node.outputs(), node.schema()));
        calc.open(context);
    }

    /** Begins with a match that the search has found. */
    void begin(Search search, long newNumber) {
        number = newNumber;
        next = search.start();
        end = search.end();
        mapping.clear();
        if (!mapping.isEmpty()) {
            for (int at = next; at < end; at++) {
                mapping.push(at, search.variableAt(at), search.row(at));
            }
        }
        boolean isEmpty = next == end;
        if (shown == Rows.ONE || isEmpty && shown != Rows.ALL_OMIT_EMPTY) {
            end = next + 1; // one row for it all
        }
        if (shown != Rows.ONE) {
            mapping.rewind();
        }
    }

    /** Begins with a row that is of no match. */
    void beginUnmatched(Search search) {
        number = 0;
        next = search.start();
        end = shown == Rows.ALL_WITH_UNMATCHED ? next + 1 : next;
        mapping.clear();
    }

    /** Goes on showing; false if the output is full before all was shown. */
    boolean show(Search search, Output output) {
        for (; next < end; next++) {
            boolean isMapped = next < search.end();
            if (shown != Rows.ONE && isMapped && search.isExcluded(next)) {
                continue;
            }
            if (columns.isFull()) {
                if (output.isFull()) {
                    return false;
                }
                emit(output);
            }
            if (shown != Rows.ONE) {
                mapping.showTo(next);
            }
            columns.add(search, mapping, next, number);
        }
        return true;
    }

    /** Emits what was shown; false if there is something and the output is full. */
    boolean flush(Output output) {
        if (columns.count() > 0) {
            if (output.isFull()) {
                return false;
            }
            emit(output);
        }
        return true;
    }

    private void emit(Output output) {
        calc.process(0, columns.take(), output);
    }

    @Override
    public void close() {
        columns.close();
        calc.close();
    }
}
