package dev.millrace.connectors.parquet;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.parquet.format.ConvertedType;
import org.apache.parquet.format.FieldRepetitionType;
import org.apache.parquet.format.SchemaElement;

/**
 * A part of a file's schema. Levels are those of Dremel (Melnik et al., "Dremel", VLDB 2010, section 4): how many of the optional and repeated
 * parts that lead to it are there, and how many repeated ones lead to it.
 */
final class SchemaNode {
    private static final int DEEPEST = 32;

    private final String name;
    private final FieldRepetitionType repetition;
    private final int definition; // level at which it is there
    private final int repetitions; // of itself and what leads to it
    private final List<SchemaNode> children = new ArrayList<>();
    private final Optional<LeafType> leaf;
    private final int leafNumber; // of the first leaf in it
    private final boolean isList;
    private final boolean isMap;

    private SchemaNode(SchemaElement element, SchemaNode parent, int leafNumber) throws ParquetDamage {
        this.name = element.getName();
        this.repetition = element.isSetRepetition_type() ? element.getRepetition_type() : FieldRepetitionType.REQUIRED;
        this.definition = parent.definition + (repetition == FieldRepetitionType.REQUIRED ? 0 : 1);
        this.repetitions = parent.repetitions + (repetition == FieldRepetitionType.REPEATED ? 1 : 0);
        this.leafNumber = leafNumber;
        this.leaf = element.isSetType() ? Optional.of(LeafType.of(element)) : Optional.empty();
        Optional<ConvertedType> converted = Optional.ofNullable(element.getConverted_type());
        boolean isLogicalList =
                element.isSetLogicalType() && element.getLogicalType().isSetLIST();
        boolean isLogicalMap =
                element.isSetLogicalType() && element.getLogicalType().isSetMAP();
        this.isList = isLogicalList || converted.equals(Optional.of(ConvertedType.LIST));
        this.isMap = isLogicalMap
                || converted.equals(Optional.of(ConvertedType.MAP))
                || converted.equals(Optional.of(ConvertedType.MAP_KEY_VALUE));
    }

    private SchemaNode() {
        this.name = "";
        this.repetition = FieldRepetitionType.REQUIRED;
        this.definition = 0;
        this.repetitions = 0;
        this.leafNumber = 0;
        this.leaf = Optional.empty();
        this.isList = false;
        this.isMap = false;
    }

    /** The whole schema, of which the first element stands for the rows. */
    static SchemaNode root(List<SchemaElement> elements) throws ParquetDamage {
        ParquetDamage.check(!elements.isEmpty() && !elements.get(0).isSetType(), "its schema has no rows");
        SchemaNode root = new SchemaNode();
        int[] next = {1, 0};
        root.addChildren(elements, elements.get(0).getNum_children(), next, 0);
        ParquetDamage.check(next[0] == elements.size(), "its schema has parts that belong to nothing");
        return root;
    }

    /** @param next the number of the next element, and of the next leaf */
    private void addChildren(List<SchemaElement> elements, int count, int[] next, int depth) throws ParquetDamage {
        ParquetDamage.check(depth < DEEPEST, "its schema is nested more than " + DEEPEST + " deep");
        ParquetDamage.check(count > 0 && count <= elements.size() - next[0], "its schema lacks parts");
        for (int i = 0; i < count; i++) {
            ParquetDamage.check(next[0] < elements.size(), "its schema lacks parts");
            SchemaElement element = elements.get(next[0]++);
            SchemaNode child = new SchemaNode(element, this, next[1]);
            children.add(child);
            if (child.leaf.isPresent()) {
                next[1]++;
            } else {
                child.addChildren(elements, element.getNum_children(), next, depth + 1);
            }
        }
    }

    String name() {
        return name;
    }

    Optional<LeafType> leaf() {
        return leaf;
    }

    /** The number of its first leaf among all, as column chunks are numbered. */
    int leafNumber() {
        return leafNumber;
    }

    int definition() {
        return definition;
    }

    int repetitions() {
        return repetitions;
    }

    List<SchemaNode> children() {
        return children;
    }

    boolean isRepeated() {
        return repetition == FieldRepetitionType.REPEATED;
    }

    boolean isOptional() {
        return repetition == FieldRepetitionType.OPTIONAL;
    }

    /** All leaves in it. */
    List<SchemaNode> leaves() {
        if (leaf.isPresent()) {
            return List.of(this);
        }
        List<SchemaNode> all = new ArrayList<>();
        children.forEach(child -> all.addAll(child.leaves()));
        return all;
    }

    /** What is repeated in it, of a list; itself, where it is repeated without being in one. */
    Optional<SchemaNode> repeated() {
        if (isRepeated()) {
            return Optional.of(this);
        }
        return isList && children.size() == 1 && children.get(0).isRepeated()
                ? Optional.of(children.get(0))
                : Optional.empty();
    }

    /**
     * Of what is repeated in a list the element: commonly its only part, and itself where an older writer left out the level between, as the
     * format's rules for backward compatibility say.
     */
    SchemaNode element(SchemaNode list) {
        boolean isItself = leaf.isPresent()
                || children.size() != 1
                || list == this
                || name.equals("array")
                || name.equals(list.name + "_tuple");
        return isItself ? this : children.get(0);
    }

    /** What it is to us; empty if nothing. */
    Optional<DataType> type() {
        Optional<SchemaNode> repeated = repeated();
        return repeated.isPresent() ? repeated.get().element(this).elementType().map(DataType::array) : elementType();
    }

    /** The same, of one of what may be repeated. */
    private Optional<DataType> elementType() {
        if (leaf.isPresent()) {
            return leaf.get().type();
        }
        if (isMap) {
            return Optional.empty();
        }
        if (!isRepeated() && repeated().isPresent()) {
            return type();
        }
        List<Field> fields = new ArrayList<>();
        for (SchemaNode child : children) {
            Optional<DataType> type = child.type();
            if (type.isEmpty()) {
                return Optional.empty();
            }
            fields.add(new Field(child.name, type.get(), true));
        }
        return Optional.of(DataType.row(fields));
    }

    /** Whether each value is one of a column's type, as it is. */
    boolean canBe(DataType column) {
        Optional<SchemaNode> repeated = repeated();
        if (repeated.isPresent()) {
            return column.kind() == DataType.Kind.ARRAY
                    && repeated.get().element(this).elementCanBe(column.element());
        }
        return elementCanBe(column);
    }

    private boolean elementCanBe(DataType column) {
        if (leaf.isPresent()) {
            return leaf.get().canBe(column);
        }
        if (!isRepeated() && repeated().isPresent()) {
            return canBe(column);
        }
        return !isMap
                && column.kind() == DataType.Kind.ROW
                && column.fields().stream()
                        .allMatch(field -> child(field.name())
                                .filter(child -> child.canBe(field.type()))
                                .isPresent());
    }

    /** The part of that name, in any case if none has it exactly. */
    Optional<SchemaNode> child(String wanted) {
        return children.stream()
                .filter(child -> child.name.equals(wanted))
                .findFirst()
                .or(() -> children.stream()
                        .filter(child -> child.name.equalsIgnoreCase(wanted))
                        .findFirst());
    }

    /** For messages. */
    @Override
    public String toString() {
        return leaf.map(of ->
                        of.physical() + of.type().map(type -> " (" + type + ")").orElse(""))
                .orElse(isMap ? "a map" : isList ? "a list" : "a group");
    }
}
