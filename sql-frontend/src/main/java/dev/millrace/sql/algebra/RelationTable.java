package dev.millrace.sql.algebra;

import dev.millrace.sql.catalog.Relation;
import java.util.Collections;
import java.util.List;
import org.apache.calcite.linq4j.tree.Expression;
import org.apache.calcite.plan.RelOptSchema;
import org.apache.calcite.plan.RelOptTable;
import org.apache.calcite.rel.RelCollation;
import org.apache.calcite.rel.RelDistribution;
import org.apache.calcite.rel.RelDistributions;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.RelReferentialConstraint;
import org.apache.calcite.rel.logical.LogicalTableScan;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.schema.ColumnStrategy;
import org.apache.calcite.util.ImmutableBitSet;
import org.jspecify.annotations.Nullable;

/** A {@link Relation} as Calcite's scans see it: {@code unwrap(Relation.class)} gives it back. */
public final class RelationTable implements RelOptTable {
    private final Relation relation;
    private final RelDataType rowType;

    public RelationTable(Relation relation) {
        this.relation = relation;
        this.rowType = TypeMapper.rowType(relation.schema());
    }

    @Override
    public List<String> getQualifiedName() {
        return List.of(relation.name());
    }

    @Override
    public double getRowCount() {
        return 1_000_000;
    }

    @Override
    public RelDataType getRowType() {
        return rowType;
    }

    @Override
    public @Nullable RelOptSchema getRelOptSchema() {
        return null;
    }

    @Override
    public RelNode toRel(ToRelContext context) {
        return LogicalTableScan.create(context.getCluster(), this, context.getTableHints());
    }

    @Override
    public List<RelCollation> getCollationList() {
        return List.of();
    }

    @Override
    public RelDistribution getDistribution() {
        return RelDistributions.ANY;
    }

    @Override
    public boolean isKey(ImmutableBitSet columns) {
        return !relation.primaryKey().isEmpty() && columns.contains(ImmutableBitSet.of(relation.primaryKey()));
    }

    @Override
    public List<ImmutableBitSet> getKeys() {
        return relation.primaryKey().isEmpty() ? List.of() : List.of(ImmutableBitSet.of(relation.primaryKey()));
    }

    @Override
    public List<RelReferentialConstraint> getReferentialConstraints() {
        return List.of();
    }

    @Override
    public @Nullable Expression getExpression(Class clazz) {
        return null;
    }

    @Override
    public RelOptTable extend(List<RelDataTypeField> extendedFields) {
        throw new UnsupportedOperationException("relations are not extended in queries");
    }

    @Override
    public List<ColumnStrategy> getColumnStrategies() {
        return RelOptTableColumns.notGenerated(rowType.getFieldCount());
    }

    @Override
    public <C> @Nullable C unwrap(Class<C> wanted) {
        return wanted.isInstance(relation) ? wanted.cast(relation) : wanted.isInstance(this) ? wanted.cast(this) : null;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof RelationTable table && table.relation.equals(relation);
    }

    @Override
    public int hashCode() {
        return relation.name().hashCode();
    }

    /** Nothing is generated, everything may be NULL: inserts are checked elsewhere. */
    private static final class RelOptTableColumns {
        static List<ColumnStrategy> notGenerated(int columns) {
            return Collections.nCopies(columns, ColumnStrategy.NULLABLE);
        }
    }
}
