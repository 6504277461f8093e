#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "lab/apiserver/kinds/validation.h"
#include "lab/apiserver/object.h"
#include "lab/apiserver/store.h"
#include "minisched/api/quantity.h"

namespace minisched::apiserver {

// Return the name of the StorageClass of a claim or volume, or "" if there is
// none. HasStorageClass() is also true for a claim that asks for no class ("").
std::string StorageClassOf(const Json& object);
bool HasStorageClass(const Json& claim);

// Returns the class for claims that don't name one: the youngest class with the
// annotation storageclass.kubernetes.io/is-default-class. Returns nullptr if
// there is none.
Object DefaultStorageClass(const std::vector<Object>& classes);
Object DefaultStorageClass(const Store& store);

// Returns the amount of the resource "storage", or 0 if there is none.
Quantity StorageIn(const Json& amounts);

// Returns the access modes as kubectl shows them: "RWO,ROX".
std::string AccessModesText(const Json& modes);

// Sets the defaults in a volume source of a pod or PersistentVolume. Sets only
// defaults that kubectl shows or that matter to a scheduler.
void SetVolumeSourceDefaults(Json& source);
// Sets the defaults in the spec of a claim or of a template of claims.
void SetClaimSpecDefaults(Json& spec);

// Validates the spec of a PersistentVolume, or a change of it. The source
// cannot change, so it is validated only if the volume `is_new`.
void ValidateVolumeSpec(const Field& spec, bool is_new);
void ValidateVolumeUpdate(const Json& volume, const Json& old,
                          FieldErrors& errors);
// Validates the spec of a claim or of a template of claims, or a change of a
// claim.
void ValidateClaimSpec(const Field& spec);
void ValidateClaimUpdate(const Json& claim, const Json& old,
                         FieldErrors& errors);
// Validates the volumes of a pod, as far as they matter to a scheduler.
void ValidatePodVolumes(const Field& volumes);

}  // namespace minisched::apiserver
