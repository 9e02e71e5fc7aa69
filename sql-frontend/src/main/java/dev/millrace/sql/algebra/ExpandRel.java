package dev.millrace.sql.algebra;

import dev.millrace.plan.node.PlanNode.TableCall;
import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.plan.Convention;
import org.apache.calcite.plan.RelTraitSet;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelWriter;
import org.apache.calcite.rel.SingleRel;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;

/**
 * Table functions over the columns of a row, and their rows beside it: what UNNEST is. Its columns are the first {@link
 * #kept} of the input, those of the calls, and perhaps the row's number. Immutable.
 */
public final class ExpandRel extends SingleRel {
    private final int kept;
    private final List<TableCall> calls;
    private final boolean ordinality;
    private final boolean outer;

    /** @param kept how many columns of the input are columns of the result */
    public ExpandRel(RelNode input, int kept, List<TableCall> calls, boolean ordinality, boolean outer) {
        super(input.getCluster(), input.getCluster().traitSetOf(Convention.NONE), input);
        this.kept = kept;
        this.calls = List.copyOf(calls);
        this.ordinality = ordinality;
        this.outer = outer;
        this.rowType = rowType(input);
    }

    private RelDataType rowType(RelNode input) {
        List<RelDataType> types = new ArrayList<>();
        List<String> names = new ArrayList<>();
        for (RelDataTypeField field : input.getRowType().getFieldList().subList(0, kept)) {
            types.add(field.getType());
            names.add(field.getName());
        }
        for (TableCall call : calls) {
            for (Field field : call.outputs()) {
                types.add(TypeMapper.relType(field.type(), field.nullable()));
                names.add(unused(names, field.name()));
            }
        }
        if (ordinality) {
            types.add(TypeMapper.relType(DataType.BIGINT, outer));
            names.add(unused(names, "ordinality"));
        }
        return TypeMapper.factory().createStructType(types, names);
    }

    private static String unused(List<String> names, String name) {
        String candidate = name;
        for (int i = 0; names.contains(candidate); i++) {
            candidate = name + i;
        }
        return candidate;
    }

    public int kept() {
        return kept;
    }

    public List<TableCall> calls() {
        return calls;
    }

    public boolean ordinality() {
        return ordinality;
    }

    /** Whether a row of which nothing is made stays. */
    public boolean outer() {
        return outer;
    }

    @Override
    public RelNode copy(RelTraitSet traitSet, List<RelNode> inputs) {
        return new ExpandRel(inputs.get(0), kept, calls, ordinality, outer);
    }

    @Override
    public RelWriter explainTerms(RelWriter writer) {
        return super.explainTerms(writer)
                .item("kept", kept)
                .item("calls", calls)
                .item("ordinality", ordinality)
                .item("outer", outer);
    }
}
