package dev.millrace.plan.function;

/**
 * The part of the {@link FunctionCatalog} about arrays, rows and JSONB. Operators have names: {@code @>} is {@code
 * array_contains} or {@code json_contains}, {@code ->} is {@code json_get}; {@code x op ANY (array)} is {@code
 * array_any('eq', x, array)}. Field access is {@code row_field} of a row and a literal number from 0, whose type only the row
 * knows: it is not listed. Nor are {@code try_cast}, whose type is the one asked for, and {@code
 * flatten} of an array of arrays.
 */
final class NestedSignatures {
    static final String TEXT = """
            !make_array(T...) T[]
            !make_row(any...) record
            subscript(T[], integer) T
            array_slice(T[], integer, integer) T[]
            !array_append(T[], T) T[]
            !array_prepend(T, T[]) T[]
            !array_cat(T[], T[]) T[]
            !array_position(T[], T, integer?) integer
            !array_positions(T[], T) integer[]
            !array_remove(T[], T) T[]
            !array_replace(T[], T, T) T[]
            !array_set(T[], integer, T) T[]
            !array_set_slice(T[], integer, integer, T[]) T[]
            array_contains(T[], T[]) boolean
            array_overlaps(T[], T[]) boolean
            !array_any(text, T, T[]) boolean
            !array_all(text, T, T[]) boolean
            array_length(T[], integer) integer
            array_lower(T[], integer) integer
            array_upper(T[], integer) integer
            array_ndims(T[]) integer
            array_dims(T[]) text
            cardinality(T[]) integer
            trim_array(T[], integer) T[]
            array_sort(T[]) T[]
            array_reverse(T[]) T[]
            array_slice(T[], integer, integer, integer) T[]
            array_sort(T[], boolean, boolean) T[]
            array_distinct(T[]) T[]
            list_resize(T[], integer) T[]
            list_select(T[], integer[]) T[]
            list_where(T[], boolean[]) T[]
            list_grade_up(T[]) integer[]
            list_repeat(T[], integer) T[]
            list_entropy(T[]) double
            array_product(double[]) double
            array_mad(double[]) double
            array_increase(double[]) double
            array_weighted_avg(double[], double[]) double
            array_sum_whole(bigint[]) numeric_whole
            array_sum_numeric(T[]) numeric
            array_sum_double(double[]) double
            list_dot_product(double[], double[]) double
            list_cosine_similarity(double[], double[]) double
            list_distance(double[], double[]) double
            array_mode(T[]) T[]
            array_disc(T[], double) T[]
            array_cont(double[], double) double
            array_extreme(T[], boolean) T[]
            array_bit_and(bigint[]) bigint
            array_bit_or(bigint[]) bigint
            array_bit_xor(bigint[]) bigint
            !array_fill(T, integer[]) T[]
            !array_to_string(T[], text, text?) text
            !string_to_array(text, text, text?) text[]
            regexp_split_to_array(text, text, text?) text[]
            parse_ident(text, boolean?) text[]
            regexp_match(text, text, text?) text[]

            json_assign(jsonb, text[], jsonb) jsonb
            json_get(jsonb, text) jsonb
            json_get(jsonb, integer) jsonb
            json_get_text(jsonb, text) text
            json_get_text(jsonb, integer) text
            json_at(jsonb, text[]) jsonb
            json_at_text(jsonb, text[]) text
            json_contains(jsonb, jsonb) boolean
            json_has(jsonb, text) boolean
            json_has_any(jsonb, text[]) boolean
            json_has_all(jsonb, text[]) boolean
            json_concat(jsonb, jsonb) jsonb
            json_delete(jsonb, text) jsonb
            json_delete(jsonb, integer) jsonb
            json_delete(jsonb, text[]) jsonb
            json_delete_path(jsonb, text[]) jsonb
            json_object_only(jsonb, text) jsonb
            json_array_text(jsonb, integer, boolean) text
            json_path(text) text
            json_path_query(jsonb, text, jsonb, boolean) jsonb[]
            json_path_array(jsonb, text, jsonb, boolean) jsonb
            json_path_first(jsonb, text, jsonb, boolean) jsonb
            json_path_exists(jsonb, text, jsonb, boolean) jsonb
            json_path_match(jsonb, text, jsonb, boolean) jsonb
            jsonb_typeof(jsonb) text
            jsonb_array_length(jsonb) integer
            !jsonb_build_object(any?...) jsonb
            !jsonb_build_array(any?...) jsonb
            jsonb_object(text[]) jsonb
            jsonb_object(text[], text[]) jsonb
            jsonb_strip_nulls(jsonb) jsonb
            jsonb_pretty(jsonb) text
            jsonb_set(jsonb, text[], jsonb, boolean?) jsonb
            jsonb_insert(jsonb, text[], jsonb, boolean?) jsonb
            jsonb_extract_path(jsonb, text...) jsonb
            jsonb_extract_path_text(jsonb, text...) text
            to_jsonb(any) jsonb
            json_members(any) jsonb
            json_elements(jsonb) jsonb[]
            json_elements_text(jsonb) text[]
            json_keys(jsonb) text[]
            json_entries(jsonb) json_entries
            json_entries_text(jsonb) text_entries
            regexp_all_matches(text, text, text?) texts
            regexp_one_match(text, text, text?) texts
            array_subscripts(T[], integer, boolean?) integer[]
            """;

    private NestedSignatures() {}
}
