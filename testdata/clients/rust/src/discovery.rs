//! Discovery, access reviews and dynamic objects.

use anyhow::{Context, Result};
use k8s_openapi::api::{authorization::v1::SelfSubjectAccessReview, core::v1::ConfigMap};
use kube::{
    api::{Api, DeleteParams, DynamicObject, Patch, PostParams},
    core::GroupVersionKind,
    discovery::{verbs, Discovery, Scope},
};
use serde_json::{from_value, json};

use crate::support::{Day, NO_PATCH};

impl Day {
    pub async fn discovery(&self) -> Result<()> {
        let version = self.client.apiserver_version().await?;
        println!("server version: {}.{}", version.major, version.minor);
        let by_group = Discovery::new(self.client.clone()).run().await?;
        let aggregated = Discovery::new(self.client.clone()).run_aggregated().await?;
        for (how, discovery) in [("by group", by_group), ("aggregated", aggregated)] {
            for (group, kind) in [
                ("", "Pod"),
                ("", "Node"),
                ("apps", "Deployment"),
                ("coordination.k8s.io", "Lease"),
            ] {
                let gvk = GroupVersionKind::gvk(group, "v1", kind);
                let (resource, can) = discovery.resolve_gvk(&gvk).context("no such kind")?;
                let mut operations = can.operations.clone();
                operations.sort();
                let mut subresources: Vec<_> = can
                    .subresources
                    .iter()
                    .map(|(resource, _)| resource.plural.rsplit('/').next().unwrap_or_default())
                    .filter(|name| ["binding", "eviction", "scale", "status"].contains(name))
                    .collect();
                subresources.sort();
                println!(
                    "{how}: {} {kind}: {}, namespaced={}, {operations:?}, {subresources:?}",
                    resource.api_version,
                    resource.plural,
                    can.scope == Scope::Namespaced
                );
            }
            let apps = discovery.get("apps").context("no apps")?;
            println!("{how}: apps: {:?}", apps.preferred_version());
        }
        Ok(())
    }

    pub async fn access(&self) -> Result<()> {
        let review: SelfSubjectAccessReview = from_value(json!({"spec": {"resourceAttributes":
            {"namespace": self.ns, "verb": "create", "resource": "pods"}}}))?;
        let answer = Api::all(self.client.clone()).create(&PostParams::default(), &review).await?;
        println!("may create pods: {:?}", answer.status.map(|status| status.allowed));
        Ok(())
    }

    /// Creates, patches and deletes an object of a kind found by discovery.
    pub async fn dynamic(&self) -> Result<()> {
        let discovery = Discovery::new(self.client.clone()).filter(&[""]).run().await?;
        let gvk = GroupVersionKind::gvk("", "v1", "ConfigMap");
        let (resource, can) = discovery.resolve_gvk(&gvk).context("no ConfigMaps")?;
        println!("dynamic can list: {}", can.supports_operation(verbs::LIST));
        let maps: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), &self.ns, &resource);
        let map = DynamicObject::new("settings", &resource).data(json!({"data": {"color": "red"}}));
        let map = maps.create(&PostParams::default(), &map).await?;
        println!("dynamic create: {}", map.data["data"]);
        let patch = Patch::Merge(json!({"data": {"color": "blue"}}));
        let map = maps.patch("settings", &NO_PATCH, &patch).await?;
        println!("dynamic patch: {}", map.data["data"]);
        let deleted = maps.delete("settings", &DeleteParams::default()).await?;
        println!("dynamic delete: {:?}", deleted.right().map(|status| status.is_success()));
        let maps: Api<ConfigMap> = Api::namespaced(self.client.clone(), &self.ns);
        println!("get what is gone: {:?}", maps.get_opt("settings").await?);
        Ok(())
    }
}
